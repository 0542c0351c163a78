"""`hbench schema`: what editors need to complete and check task files."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of task files.

    Save it and name it in the first line of a task: `# yaml-language-server: $schema=PATH`.
    """
    import json

    from hbench.spec import task_schema

    click.echo(json.dumps(task_schema(), indent=2, ensure_ascii=False))
