"""Options that several commands have in common, with one wording each."""

from __future__ import annotations

from pathlib import Path

import click

INCLUDE_PATHS = click.option(
    "--include-path",
    "include_paths",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="A further folder of tasks; repeatable.",
)
DATA = click.option(
    "--data",
    multiple=True,
    metavar="[SUITE=]KIND",
    help="demo, build, hub, package, or a folder; repeatable.",
)
REPAIR_NUMBERS = click.option(
    "--repair-numbers", is_flag=True, help="Read $ and thousands separators where an answer fails without."
)
REPAIR_NESTING = click.option(
    "--repair-nesting", is_flag=True, help="Put missing outer brackets around probability vectors."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
