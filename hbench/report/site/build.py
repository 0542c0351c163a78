"""The site's folder: pages, records and assets, made anew beside an old one and then put in its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from hbench.core import RunError
from hbench.core.leftovers import temporary_folder
from hbench.data.files import make_folder, sync_folder, sync_tree
from hbench.report.comparison import Comparison, View
from hbench.report.site.content import Say, gather
from hbench.report.site.pages import write_pages
from hbench.report.site.records import write_records
from hbench.report.site.vendored import write_assets
from hbench.report.site.worths import StoredWorth

FORMAT, VERSION = "hbench site", 1
MARK = "site.json"
"""Tells a site from any other folder, so that nothing else is ever replaced."""


@dataclass(frozen=True)
class Built:
    """What was written."""

    path: Path
    files: int
    bytes: int


def write_site(
    comparison: Comparison,
    view: View,
    folder: Path,
    *,
    title: str = "hbench",
    rule: str | None = None,
    worths: Sequence[Path] = (),
    records: bool = True,
    say: Say = lambda line: None,
) -> Built:
    """Write a static site about some runs.

    Parameters
    ----------
    comparison, view
        The runs, and how they are looked at.
    folder : Path
        Absent, empty, or a site written before, which is replaced once the new one is whole.
    title : str
        Stands on every page.
    rule : str, optional
        A leaderboard rule in place of the suites' own.
    worths : sequence of Path
        What ``hbench ess --format json`` wrote.
    records : bool
        Whether single records with their prompts and answers are part of it.
    say : callable
        Takes a line about each step.

    Raises
    ------
    RunError
        When the folder holds something else, or a file of `worths` is none.
    """
    _check(folder)
    read = [StoredWorth.read(path) for path in worths]
    given, folder = folder, folder.absolute()
    # A place that cannot be written to is told before minutes of work.
    make_folder(folder.parent)
    content = gather(comparison, view, rule=rule, worths=read, records=records, say=say)
    with temporary_folder(folder.parent, folder.name) as made:
        draft = made / folder.name
        draft.mkdir()
        catalogue = []
        if records:
            say("records")
            catalogue = write_records(comparison, draft / "records")
        say("pages")
        write_pages(content, draft, title, catalogue)
        write_assets(draft / "assets")
        about = {"format": FORMAT, "version": VERSION, "title": title}
        (draft / MARK).write_text(json.dumps(about) + "\n", encoding="utf-8")
        sync_tree(draft)
        sizes = [path.stat().st_size for path in draft.rglob("*") if path.is_file()]
        _put(draft, folder, made)
    return Built(given, len(sizes), sum(sizes))


def _put(draft: Path, folder: Path, aside: Path) -> None:
    """Put a draft in a folder's place. What was there is moved aside, since removing it could end half way."""
    for number in count():
        # Another process may put its own site there in between.
        with suppress(FileNotFoundError):
            folder.rename(aside / f"old-{number}")
        try:
            draft.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            _check(folder)
            continue
        sync_folder(folder.parent)
        return


def is_site(folder: Path) -> bool:
    """Say whether a folder is a site that was written here."""
    try:
        stored = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(stored, dict) and stored.get("format") == FORMAT


def _check(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RunError(
            "a site needs a folder of its own, and this is a link or a file",
            file=folder,
            hint="Give an empty folder, or one that does not exist yet.",
        )
    if folder.exists() and any(folder.iterdir()) and not is_site(folder):
        raise RunError(
            "the folder holds something else than a site of hbench",
            file=folder,
            hint="Give an empty folder, or one that does not exist yet.",
        )
