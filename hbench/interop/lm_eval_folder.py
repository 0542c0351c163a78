"""Writing a folder of tasks for lm-evaluation-harness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from hbench.core import DataError, Sampling, SelectionError
from hbench.core.version import __version__
from hbench.data.export import SYNTHETIC, export
from hbench.interop.exported import RECORDS, VERSION, write_spec
from hbench.model.generation import MAX_TOKENS
from hbench.run.plan import Plan, PlannedTask
from hbench.run.scoring import check_truths

if TYPE_CHECKING:
    from hbench.plugin import Registry

_MODULE = "hbench_tasks"
_CODE = '''"""Tasks of hbench under lm-evaluation-harness. Written by `hbench export lm-eval`; needs hbench."""

from pathlib import Path

from hbench.interop.lm_eval_task import task_in

Task = task_in(Path(__file__).resolve().parent)
'''


def write_folder(
    plan: Plan, out: Path, *, sampling: Sampling, notices: Mapping[str, Iterable[str]], registry: Registry
) -> list[str]:
    """Write tasks with their records, so that ``lm_eval --include_path OUT --tasks NAME`` runs them.

    A task of several splits becomes a group of its name, with one task ``NAME_SPLIT`` for each; a suite is a group too.

    Parameters
    ----------
    plan : Plan
        The tasks with their data; its settings give draws, repairs and the sample.
    out : Path
        A new or empty folder.
    sampling : Sampling
        Generation settings. Where none are given temperature is 1, and at most 1,024 tokens are generated, as for
        `hbench eval` with a local model.
    notices : mapping
        Texts that data providers require to be shown, by suite.
    registry : Registry
        Where parsers and metrics are registered.

    Returns
    -------
    list of str
        Names that lm-eval knows: the suites' groups, then tasks and their groups.

    Raises
    ------
    DataError
        The folder is not empty, or a task has no prompts.
    SelectionError
        Two tasks have one name, or a setting has no counterpart in lm-eval.
    """
    settings = generation_kwargs(sampling)
    _check(plan, sampling, registry)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError("the folder to export to is not empty", file=out, hint="Name a new one.")
    export([planned.data for planned in plan.tasks], out / RECORDS, format="jsonl", sample=plan.settings.sample)
    (out / f"{_MODULE}.py").write_text(_CODE, encoding="utf-8")
    tasks: list[str] = []
    suites: dict[str, list[str]] = {}
    for planned in plan.tasks:
        write_spec(out, planned, registry=registry)
        name = planned.task.task
        parts = {split: name if len(planned.splits) == 1 else f"{name}_{split}" for split in planned.splits}
        for split, part in parts.items():
            _write_task(out, part, planned, split, settings)
        if len(parts) > 1:
            _write_group(out, name, list(parts.values()))
        tasks += dict.fromkeys([name, *parts.values()])
        suites.setdefault(planned.task.suite, []).append(name)
    groups = [suite for suite in suites if suite not in tasks]
    for suite in groups:
        _write_group(out, suite, suites[suite])
    (out / "README.md").write_text(_page(plan, notices), encoding="utf-8")
    return [*groups, *tasks]


def generation_kwargs(sampling: Sampling) -> dict[str, Any]:
    """Return lm-eval's names for generation settings.

    Raises
    ------
    SelectionError
        A setting that lm-eval's models do not share.
    """
    for name in ("seed", "reasoning_effort"):
        if getattr(sampling, name) is not None:
            raise SelectionError(
                f"lm-eval's tasks have no {name}",
                hint="its seeds are those of the command line (`lm_eval --seed`)" if name == "seed" else None,
            )
    temperature = 1.0 if sampling.temperature is None else sampling.temperature
    settings: dict[str, Any] = {
        "until": list(sampling.stop),
        "max_gen_toks": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
        "do_sample": temperature > 0,
        "temperature": temperature,
    }
    if temperature > 0:
        shaping = {name: getattr(sampling, name) for name in ("top_p", "top_k", "min_p")}
        settings |= {name: value for name, value in shaping.items() if value is not None}
    return settings | dict(sampling.extra)


def _check(plan: Plan, sampling: Sampling, registry: Registry) -> None:
    repeated = [name for name, count in Counter(planned.task.task for planned in plan.tasks).items() if count > 1]
    if repeated:
        raise SelectionError(
            f"two tasks are called {repeated[0]}, and lm-eval knows no suites", hint="export the suites one by one"
        )
    for planned in plan.tasks:
        check_truths(planned, registry=registry)
        if not all(record.messages for record in islice(planned.records(), 1)):
            raise DataError(
                "the records have no prompts, only predictors", file=planned.data.path, task=planned.name,
                hint="lm-eval asks prompts; build or fetch the task's data with prompts",
            )  # fmt: skip
        if planned.draws > 1 and sampling.temperature == 0:
            raise SelectionError(
                f"{planned.name} takes {planned.draws} draws, which are all the same at temperature 0",
                hint="--draws 1, or a temperature above 0",
            )
        for use in planned.task.metrics:
            if use.invalid == "worst":
                raise SelectionError(
                    f"{planned.name} counts invalid answers as the worst of several models, and lm-eval runs one",
                    hint="--invalid-policy exclude",
                )


def _write_task(out: Path, name: str, planned: PlannedTask, split: str, settings: Mapping[str, Any]) -> None:
    content = {
        "task": name,
        "output_type": "generate_until",
        "test_split": "test",
        "doc_to_text": "messages",
        "doc_to_target": "gold",
        "num_fewshot": 0,
        "repeats": planned.draws,
        "filter_list": [{"name": "none", "filter": [{"function": "take_first_k", "k": planned.draws}]}],
        "generation_kwargs": dict(settings),
        "metadata": {
            "version": VERSION,
            "hbench": {
                "task": planned.name,
                "split": split,
                "data": planned.data.kind,
                "fingerprint": planned.data.fingerprint,
                "version": __version__,
            },
        },
    }
    (out / f"{name}.yaml").write_text(
        f"class: !function {_MODULE}.Task\n{yaml.safe_dump(content, sort_keys=False)}", encoding="utf-8"
    )


def _write_group(out: Path, name: str, members: list[str]) -> None:
    text = yaml.safe_dump({"group": name, "task": members}, sort_keys=False)
    (out / f"{name}.yaml").write_text(text, encoding="utf-8")


def _page(plan: Plan, notices: Mapping[str, Iterable[str]]) -> str:
    synthetic = any(planned.data.kind == "demo" for planned in plan.tasks)
    lines = [
        "# Tasks of hbench for lm-evaluation-harness",
        "",
        *([f"**{SYNTHETIC}**", ""] if synthetic else []),
        "```",
        f"lm_eval --include_path . --tasks {plan.tasks[0].task.task} --model hf --model_args pretrained=MODEL "
        "--apply_chat_template --log_samples --output_path OUT",
        "```",
        "",
        "Prompts and scores are hbench's, which must be installed. `METRIC_strict` counts invalid answers; `valid` "
        "is the share of valid ones.",
        "`hbench eval --model replay:OUT --data records` scores the samples that lm-eval logs.",
    ]
    shown = list(dict.fromkeys(notice for texts in notices.values() for notice in texts))
    if shown:
        lines += ["", "## Notices", "", *(f"- {notice}" for notice in shown)]
    return "\n".join(lines) + "\n"
