"""`hbench submit`: results for a public board, checked and joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hbench.cli.terminal import say, say_json

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group("submit")
def command() -> None:
    """Check results for a public board, and join what was checked."""


@command.command("check")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--data", multiple=True, metavar="[SUITE=]KIND", help="The board's data (default: the kinds of the runs)."
)
@click.option(
    "--include-path",
    "include_paths",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="The board's further folders of tasks.",
)
@click.option("--any-version", is_flag=True, help="Take runs of other versions of hbench.")
@click.option("--json", "as_json", is_flag=True, help="Write the outcome as JSON.")
@click.option(
    "--entry", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the board's entry."
)
def check(
    folder: Path,
    data: Sequence[str],
    include_paths: Sequence[Path],
    any_version: bool,
    as_json: bool,
    entry: Path | None,
) -> None:
    """Check the run folders of DIR: whole, untouched, about the board's data, and worth the scores that they claim.

    Exit codes: 0 accepted, 1 refused, 2 not to be checked (a mistake in the command, or the board's data are absent).
    """
    from hbench.data.export import SYNTHETIC
    from hbench.prompt.formats import plural
    from hbench.submit.check import check as run

    checked = run(folder, data=data, include_paths=include_paths, any_version=any_version)
    if checked.entry is not None and entry is not None:
        from hbench.data.files import write_whole

        write_whole(entry, checked.entry.model_dump_json(indent=1) + "\n")
    if as_json:
        from dataclasses import asdict

        say_json(
            {
                "accepted": checked.entry is not None,
                "refusals": [asdict(refusal) for refusal in checked.refusals],
                "entry": None if checked.entry is None else checked.entry.model_dump(mode="json"),
            }
        )
    elif checked.entry is not None:
        scores = sum(len(one.scores) for one in checked.entry.runs)
        say(f"Accepted: {plural(len(checked.entry.runs), 'run')}, {plural(scores, 'score')} as claimed.")
        if checked.entry.synthetic:
            say(f"\n{SYNTHETIC}")
        for text in checked.entry.notices:
            say(f"\n{text}")
    for refusal in checked.refusals:
        say(f"refused: {refusal}", err=True)
    raise click.exceptions.Exit(0 if checked.entry is not None else 1)


@command.command("board")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Where to.")
def board(folder: Path, out: Path) -> None:
    """Join the entries in DIR into board.json, board.csv and board.md."""
    from hbench.prompt.formats import plural
    from hbench.submit.board import join, read_entries, write_board

    joined = join(read_entries(folder))
    written = write_board(joined, out)
    counts = f"{plural(len(joined.models), 'model')}, {plural(len(joined.rows), 'score')}"
    say(f"{counts}: {', '.join(map(str, written))}")
    if joined.repeated:
        say(f"{joined.repeated:,} scores are in several entries alike, and stand once.")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of entries."""
    from hbench.submit.entry import Entry

    say_json(Entry.model_json_schema())
