"""The catalogue: one page a suite, every task as its spec says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from hbench.cli.task_page import page
from hbench.core import Target
from hbench.core.target import MetricUse
from hbench.spec import Suite, Task, TaskIndex

SUITES = ("householdbench", "behaviorbench", "randhie", "wagepanel")
"""The suites of this repository, in the order of the catalogue."""


def task_pages(index: TaskIndex) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page, the overview first."""
    suites = {name: (index.suite(name), [entry.load() for entry in index.select(f"@{name}")]) for name in SUITES}
    yield "tasks/index.md", _overview(suites)
    for name, (suite, tasks) in suites.items():
        yield f"tasks/{name}.md", suite_page(suite, tasks)


def suite_page(suite: Suite, tasks: Iterable[Task]) -> str:
    """Return the page of a suite."""
    tasks = list(tasks)
    lines = [f"# {_plain(suite.title)}", "", _plain(suite.description or ""), ""]
    if suite.citation:
        lines += [f"*{_plain(suite.citation)}*", ""]
    lines += _table(
        ["task", "topic", "what is predicted", "kind", "headline metric"],
        (
            [
                f"[`{task.task}`](#{task.task.lower()})",
                task.topic + (" (policy)" if task.mode == "policy" else ""),
                _plain(task.title or task.targets[0].name),
                task.kind,
                f"`{task.metrics[0].metric}`",
            ]
            for task in tasks
        ),
    )
    for task in tasks:
        lines += ["", *_task(task)]
    notices = suite.notices_of(tasks)
    if notices:
        lines += ["", "## Notices", "", *(f"- {_plain(text)}" for text in notices)]
    return "\n".join(lines) + "\n"


def _overview(suites: dict[str, tuple[Suite, list[Task]]]) -> str:
    lines = [
        "# Tasks",
        "",
        "Made from the task files. `hbench ls tasks` lists what is installed, `hbench show TASK` shows a file with its",
        "includes filled in, and `hbench show TASK --record 1` a record.",
        "",
    ]
    lines += _table(
        ["suite", "tasks", "topics", "default data"],
        (
            [
                f"[{_plain(suite.title)}]({name}.md)",
                str(len(tasks)),
                ", ".join(dict.fromkeys(task.topic for task in tasks)),
                f"`{suite.data}`",
            ]
            for name, (suite, tasks) in suites.items()
        ),
    )
    return "\n".join(lines) + "\n"


def _task(task: Task) -> Iterator[str]:
    # The short forms of the YAML are what authors write and readers know.
    shown: dict[str, Any] = yaml.safe_load(page(task))
    yield f"## {task.task}"
    yield ""
    yield f"**{_plain(task.title or task.task)}.** {_plain(task.description or '')}"
    yield ""
    facts = {
        "survey": task.survey and _plain(task.survey),
        "sources": ", ".join(f"`{name}`" for name in task.sources),
        "record": f"`{task.key.id}`" + (f" at `{task.key.time}`" if task.key.time else ""),
        "published": task.key.release and f"`{task.key.release}`",
        "treatment": task.treatment and f"`{task.treatment}`",
        "averaged over groups of": task.group and f"`{task.group}`",
        "split": shown.get("split") and f"`{_flow(shown['split'])}`",
        "answer": f"`{_flow(shown['answer'])}`",
        "metrics": ", ".join(_metric(use) for use in task.metrics),
        "definitions": task.citation and _plain(task.citation),
    }
    yield from _table(["", ""], ([name, value] for name, value in facts.items() if value))
    yield ""
    yield from _table(["target", "kind", "values", "no-change answer"], (_target(target) for target in task.targets))
    if task.predictors:
        yield ""
        yield from _table(
            ["predictors", "kind", "section", ""],
            (
                [
                    _columns(part.columns),
                    part.kind,
                    part.section or "",
                    "" if part.required else "may be missing",
                ]
                for part in task.predictors
            ),
        )
    if "sample" in shown:
        yield ""
        yield "Sample construction, from the table of the first source:"
        yield ""
        for number, step in enumerate(shown["sample"], 1):
            yield f"{number}. `{_flow(step)}`"
    yield ""
    yield f'??? note "Prompt of {task.task}"'
    yield ""
    yield "    ```yaml"
    text = yaml.safe_dump(shown["prompt"], sort_keys=False, allow_unicode=True, width=110)
    yield from (f"    {line}".rstrip() for line in text.splitlines())
    yield "    ```"


def _target(target: Target) -> list[str]:
    values = ", ".join(target.labels)
    if target.range:
        values = f"{target.range[0]:g} to {target.range[1]:g}" + (f" {target.unit}" if target.unit else "")
    elif not values:
        values = target.unit or ""
    past = target.no_change
    shown = "" if past is None else ", ".join(f"`{name}`" for name in ((past,) if isinstance(past, str) else past))
    return [f"`{target.name}`", target.kind, _plain(values), shown]


def _columns(names: Iterable[str]) -> str:
    """Write lags of a column that follow one another as their first and last."""
    runs: list[list[str]] = []
    for name in names:
        stem, _, depth = name.rpartition("_lag")
        last = runs[-1][-1] if runs else ""
        if stem and depth.isdigit() and last == f"{stem}_lag{int(depth) - 1}":
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(f"`{run[0]}`" if len(run) == 1 else f"`{run[0]}` to `{run[-1]}`" for run in runs)


def _metric(use: MetricUse) -> str:
    level = ", distributional" if use.level == "distributional" else ""
    target = f", {use.target}" if use.target else ""
    return f"`{use.metric}`" + (f" ({(target + level).lstrip(', ')})" if target or level else "")


def _flow(value: Any) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.removesuffix("\n...\n").strip().replace("`", "'")


def _table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    body = [[_cell(cell) for cell in row] for row in rows]
    return [_row(head), _row(["---"] * len(head)), *(_row(row) for row in body)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    """Keep a text from being read as markup."""
    return "".join(f"\\{sign}" if sign in "\\`*_<>[]#" else sign for sign in text)
