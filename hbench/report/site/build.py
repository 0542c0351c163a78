"""The site's folder: pages, records and assets, made anew beside an old one and then put in its place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hbench.core import RunError
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
    content = gather(comparison, view, rule=rule, worths=read, records=records, say=say)
    draft = folder.with_name(f".{folder.name}.partial")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    try:
        catalogue = []
        if records:
            say("records")
            catalogue = write_records(comparison, draft / "records")
        say("pages")
        write_pages(content, draft, title, catalogue)
        write_assets(draft / "assets")
        about = {"format": FORMAT, "version": VERSION, "title": title}
        (draft / MARK).write_text(json.dumps(about) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    files = [path for path in folder.rglob("*") if path.is_file()]
    return Built(folder, len(files), sum(path.stat().st_size for path in files))


def is_site(folder: Path) -> bool:
    """Say whether a folder is a site that was written here."""
    try:
        stored = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(stored, dict) and stored.get("format") == FORMAT


def _check(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RunError("a site needs a folder of its own", file=folder)
    if folder.exists() and any(folder.iterdir()) and not is_site(folder):
        raise RunError(
            "the folder holds something else than a site of hbench",
            file=folder,
            hint="Give an empty folder, or one that does not exist yet.",
        )
