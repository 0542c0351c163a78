"""What commands print. Prompts, answers, labels and errors hold foreign text, so nothing is printed as it came."""

from __future__ import annotations

from typing import Any

import click

from hbench.core.legible import json_text, legible


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text on standard output, or on standard error; control characters are written out."""
    click.echo(legible(text), err=err, nl=nl)


def say_json(value: Any) -> None:
    """Print a value as JSON that reads back as it is, with control characters escaped."""
    click.echo(json_text(value))
