"""`hbench new`: the beginnings of a suite or a task, which run at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hbench.cli.terminal import say

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SHARED = ("topic", "survey", "source", "panel", "key", "cluster", "weight", "predictors", "sample", "split")
"""Keys that a new task takes over from the suite's first one."""


@click.group("new")
def command() -> None:
    """Write the beginnings of a suite or a task."""


@command.command("suite")
@click.argument("name")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Folder to make (default: NAME, here)."
)
@click.option("--title", help="What the suite is called for people.")
def suite(name: str, folder: Path | None, title: str | None) -> None:
    """Write a package with the suite NAME: tasks, a source, a parser, a metric, data, tests. It runs at once."""
    import hbench
    from hbench.cli.scaffold import write_tree
    from hbench.core import SelectionError

    _check(name)
    target = folder or Path(name)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise SelectionError(f"{target} exists and is not empty", hint="Name another folder with --dir.")
    plain = name.replace("-", "_").lower()
    values = {
        "suite": name,
        "package": f"hbench_{plain}",
        "distribution": f"hbench-{plain.replace('_', '-')}",
        "title": (title or name.replace("-", " ").replace("_", " ").capitalize()).replace('"', "'"),
        "hbench": hbench.__version__,
    }
    written = write_tree("suite", target, values, names={"package": values["package"], "gitignore": ".gitignore"})
    say(f"{len(written)} files in {target}. Next:")
    say(f"  pip install -e {target}")
    say(f"  hbench eval --tasks '@{name}' --model no_change --model marginal")


@command.command("task")
@click.argument("suite_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("name")
@click.option("--kind", type=click.Choice(["numeric", "categorical", "probability"]), required=True)
@click.option("--column", help="Column of the truth (default: NAME).")
@click.option("--labels", help="Of a categorical or probability target: never,sometimes,often.")
@click.option("--unit", default="units", show_default=True, help="Of a numeric target.")
def task(suite_dir: Path, name: str, kind: str, column: str | None, labels: str | None, unit: str) -> None:
    """Add the task NAME to the suite in SUITE_DIR, with the source, predictors and split of the tasks there."""
    from hbench.cli.scaffold import SUFFIX, TEMPLATES, fill
    from hbench.core import SelectionError
    from hbench.spec import load_task
    from hbench.spec.load import read_page

    _check(name)
    tasks = _tasks_folder(suite_dir)
    path = tasks / f"{name}.yaml"
    if path.exists():
        raise SelectionError(f"{path} exists")
    listed = [label.strip() for label in (labels or "").split(",") if label.strip()]
    if kind != "numeric" and len(listed) < 2:
        raise SelectionError(f"a {kind} target needs at least two labels", hint="As in --labels never,sometimes,often.")
    if kind == "probability" and len(listed) > 2:
        raise SelectionError(
            "from one column comes the probability of the second of two labels",
            hint="Give two --labels here; for more, write `columns`, one a label, into the file.",
        )
    words = name.replace("_", " ").replace("-", " ")
    values = {
        "task": name,
        "suite": read_page(tasks / "_suite.yaml").suite,
        "title": words.capitalize(),
        "words": words,
        "column": column or name,
        "unit": unit,
        "labels": _flow(listed),
        "choices": ", ".join(f'["{label}"]' for label in listed).replace("'", "''"),
        "shared": _shared(tasks),
        "situation": _situation(tasks),
    }
    path.write_text(fill(TEMPLATES.joinpath(f"task/{kind}.yaml{SUFFIX}").read_text("utf-8"), values), encoding="utf-8")
    load_task(path, root=tasks)
    say(f"{path}. Next: say what is asked, then")
    say(f"  hbench show {values['suite']}/{name} --prompt")


def _check(name: str) -> None:
    from hbench.core import SelectionError

    if not _NAME.fullmatch(name):
        raise SelectionError(f"{name!r} is no name", hint="A letter, then letters, digits, - and _.")


def _tasks_folder(suite_dir: Path) -> Path:
    from hbench.core import SelectionError

    places = ("_suite.yaml", "tasks/_suite.yaml", "*/tasks/_suite.yaml")
    pages = sorted({page for place in places for page in suite_dir.glob(place)})
    if len(pages) != 1:
        what = "several pages" if pages else "no page"
        raise SelectionError(f"{suite_dir} has {what} of a suite (PACKAGE/tasks/_suite.yaml)")
    return pages[0].parent


def _shared(tasks: Path) -> str:
    """Return the lines that the suite's tasks have in common: an include, or a copy of the first task's keys."""
    if (tasks / "_panel.yaml").is_file():
        return "include: [_panel.yaml]"
    import yaml

    from hbench.cli.task_page import page
    from hbench.core import SelectionError
    from hbench.spec import load_task

    first = next((path for path in sorted(tasks.rglob("*.yaml")) if not path.name.startswith("_")), None)
    if first is None:
        raise SelectionError(f"{tasks} has no task to take source, key and split from")
    content: dict[str, Any] = yaml.safe_load(page(load_task(first, root=tasks)))
    kept = {key: content[key] for key in _SHARED if key in content}
    text: str = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return text.rstrip()


def _situation(tasks: Path) -> str:
    if (tasks / "_situation.yaml").is_file():
        return '    - include: "_situation.yaml#paragraphs"'
    return "    # - Say here what is known of the person, as in: You are {{ age | number }} years old."


def _flow(labels: Sequence[str]) -> str:
    """Write labels as a YAML list; quoted, since `yes` and `1` would be read as something else."""
    import json

    return json.dumps(list(labels), ensure_ascii=False)
