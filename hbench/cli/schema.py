"""`hbench schema`: the JSON Schema of task files."""

from __future__ import annotations

import click


@click.command("schema")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    metavar="FILE",
    help="Write it there (default: standard output).",
)
def command(out: str) -> None:
    """Print the JSON Schema of task files, for editors.

    In an editor that knows YAML schemas, `# yaml-language-server: $schema=FILE` at the top of a task completes keys.
    """
    import json

    from hbench.core.errors import SpecError
    from hbench.spec import task_schema

    text = json.dumps(task_schema(), indent=2, ensure_ascii=False) + "\n"
    try:
        with click.open_file(out, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SpecError(f"the schema cannot be written: {error.strerror}", file=out) from error
