"""Folders of text templates, filled in. A template is plain text in which ``<<name>>`` stands for a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

SUFFIX = ".tmpl"
_PLACE = re.compile(r"<<(\w+)>>")
TEMPLATES = files("hbench.cli").joinpath("templates")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the places of their names; every name must have one."""
    return _PLACE.sub(lambda match: values[match[1]], text)


def write_tree(template: str, target: Path, values: Mapping[str, str], *, names: Mapping[str, str]) -> list[Path]:
    """Fill in a folder of templates.

    Parameters
    ----------
    template : str
        Folder of templates.
    target : Path
        Folder to write to.
    values : mapping
        By the names of places.
    names : mapping
        New names of files and folders that stand under another one in the template.

    Returns
    -------
    list of Path
        What was written, in order.
    """
    return _write(TEMPLATES.joinpath(template), target, values, names)


def _write(folder: Traversable, target: Path, values: Mapping[str, str], names: Mapping[str, str]) -> list[Path]:
    target.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for part in sorted(folder.iterdir(), key=lambda part: part.name):
        name = part.name.removesuffix(SUFFIX)
        path = target / names.get(name, name)
        if part.is_dir():
            written += _write(part, path, values, names)
        elif part.name.endswith(SUFFIX):
            path.write_text(fill(part.read_text(encoding="utf-8"), values), encoding="utf-8")
            written.append(path)
    return written
