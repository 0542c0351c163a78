"""The raw files of every source, as the sources declare them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from docs_pages.task_pages import SUITES
from hbench.core import RawFile
from hbench.plugin import Registry
from hbench.spec import TaskIndex

_ADDRESS = re.compile(r"https://[^\s,;)]+")
HEAD = """# Raw files

Made from what the sources declare. Paths are below the folder that `--raw` names; `hbench data status TASK --raw DIR`
says which are there, and `--check` compares their checksums. How to get them: [Access to the surveys](surveys.md).
"""


def raw_files_page(index: TaskIndex, registry: Registry) -> str:
    """Return the page: a section for each source that reads files."""
    lines = [HEAD]
    for suite in SUITES:
        tasks = [entry.load() for entry in index.select(f"@{suite}")]
        for name in dict.fromkeys(name for task in tasks for name in task.sources):
            files = registry.get("source", name, suite=suite)().files
            if not files:
                continue
            used = [task.task for task in tasks if name in task.sources]
            lines += [f"## {name}", ""]
            named = ", ".join(f"`{task}`" for task in used)
            lines += ["For all tasks." if 2 < len(used) == len(tasks) else f"For {named}.", ""]
            lines += ["| file | | from | terms |", "|---|---|---|---|", *_rows(files), ""]
    return "\n".join(lines)


def _rows(files: tuple[RawFile, ...]) -> Iterator[str]:
    # Files that a provider hands out one a year are one line.
    for (origin, terms, need, years), alike in groupby(files, key=_kind):
        given = list(alike)
        paths = [_path(file) for file in given]
        shown = f"{paths[0]} … {paths[-1]} ({len(paths)} files)" if years and len(paths) > 2 else "<br>".join(paths)
        yield f"| {shown} | {need} | {_linked(origin)} | {terms} |"


def _kind(file: RawFile) -> tuple[str, str, str, bool]:
    numbered = any(sign.isdigit() for sign in file.path.rpartition("/")[2])
    need = "needed" if file.required else "optional"
    return file.origin, file.terms, need, numbered


def _path(file: RawFile) -> str:
    paths = " or ".join(f"`{path}`" for path in (file.path, *file.alternatives))
    return f"{paths} (SHA-256 `{file.sha256[:12]}…`)" if file.sha256 else paths


def _linked(text: str) -> str:
    return _ADDRESS.sub(r"<\g<0>>", text)
