"""`hbench schema`: what editors need to complete and check task files."""

from __future__ import annotations

import click


@click.command("schema")
@click.option(
    "-o",
    "--out",
    default="-",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write it there (default: standard output).",
)
def command(out: str) -> None:
    """Print the JSON Schema of task files.

    Save it and name it in the first line of a task: `# yaml-language-server: $schema=PATH`.
    """
    import json

    from hbench.core import SpecError
    from hbench.spec import task_schema

    text = json.dumps(task_schema(), indent=2, ensure_ascii=False) + "\n"
    try:
        with click.open_file(out, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SpecError(f"the schema cannot be written: {error.strerror}", file=out) from error
