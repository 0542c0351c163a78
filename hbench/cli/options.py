"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

include_path = click.option(
    "--include-path",
    "include_paths",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A further folder of tasks; repeatable (also HBENCH_TASK_PATH).",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON.")
