"""`hbench report` of the whole board: 32 tasks x 15 models x 200 rows, from prediction files to ranks with intervals.

Records with made-up answers are written in the layout of the released evaluation samples, one file for each of
HouseholdBench's tasks, and prediction files for models of rising skill. The board that comes out (averages over 18, 9
and 5 tasks, topic ranks, overall ranks both ways) is compared with one that is computed from the same texts with numpy
alone.

Run: python benchmarks/board.py [--models 15] [--rows 200] [--draws 10000]
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hbench.plugin import default_registry
from hbench.report.comparison import Comparison, View
from hbench.report.standings import standings
from hbench.run.evaluate import evaluate
from hbench.spec import Task, discover
from hbench.stat import Resampling

Texts = dict[str, list[str]]
INVALID = 0.02
SUITE = "householdbench"


def tasks() -> list[Task]:
    return [entry.load() for entry in discover().select(f"{SUITE}/*")]


def answers(task: Task, rows: int, rng: np.random.Generator) -> list[str]:
    """Return made-up answers as the task's parser writes them."""
    parser: Any = default_registry().get("parser", task.answer.parser, suite=SUITE)()
    spec = task.answer_spec()

    def value(target: Any) -> Any:
        if target.kind == "numeric":
            # Wide enough that nothing is rounded to zero, within the range that some targets have.
            low, high = target.range or (1.0, 5000.0)
            return float(np.clip(rng.lognormal(3.0, 1.0), low, high))
        if target.kind == "categorical":
            return str(rng.choice(target.labels))
        return tuple(map(float, rng.dirichlet(np.ones(len(target.labels)))))

    return [str(parser.render(tuple(map(value, task.targets)), spec)) for _ in range(rows)]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def make(root: Path, models: int, rows: int) -> tuple[Texts, Texts, dict[str, Texts]]:
    """Write records and predictions; return truths, no-change answers and predictions by task."""
    gold: Texts = {}
    naive: Texts = {}
    said: dict[str, Texts] = {f"model{m}": {} for m in range(models)}
    manifest = []
    for number, task in enumerate(tasks()):
        rng = np.random.default_rng(number)
        name = task.task
        gold[name], naive[name] = answers(task, rows, rng), answers(task, rows, rng)
        records = [
            {"id": f"p{i}", "time": "2020-01", "release_date": "2020-06-01", "user": "?", "assistant": gold[name][i],
             "naive_baseline": naive[name][i]}
            for i in range(rows)
        ]  # fmt: skip
        file = root / "data" / "pre_cutoff" / f"{name}.jsonl"
        write_lines(file, records)
        manifest.append([name, "pre_cutoff_test", rows, hashlib.sha256(file.read_bytes()).hexdigest()])
        for m, (model, texts) in enumerate(said.items()):
            other, luck = answers(task, rows, rng), rng.random((2, rows))
            texts[name] = [
                "no idea" if luck[0, i] < INVALID else gold[name][i] if luck[1, i] < m / (models + 2) else other[i]
                for i in range(rows)
            ]
            lines = [{"id": f"p{i}", "time": "2020-01", "prediction": text} for i, text in enumerate(texts[name])]
            write_lines(root / model / f"{name}.jsonl", lines)
    with (root / "data" / "manifest.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["task_id", "split", "rows", "prompt_sha256"], *manifest])
    return gold, naive, said


def _relmae(pred: list[Any], gold: list[Any], naive: list[Any]) -> float:
    p, g, n = (np.array(one, dtype=float) for one in (pred, gold, naive))
    return float(np.mean(np.abs(p - g).sum(axis=0) / np.abs(n - g).sum(axis=0)))


def _macro_f1(pred: list[Any], gold: list[Any], naive: list[Any]) -> float:
    out = []
    for p, g in zip(np.array(pred).T, np.array(gold).T, strict=True):
        scores = [2 * ((p == c) & (g == c)).sum() / ((p == c).sum() + (g == c).sum()) for c in np.union1d(p, g)]
        out.append(np.mean(scores))
    return float(np.mean(out))


def _tv(pred: list[Any], gold: list[Any], naive: list[Any]) -> float:
    def shares(answers: list[Any]) -> list[Any]:
        return [[np.array(vector, dtype=float) / np.sum(vector) for vector in answer] for answer in answers]

    pairs = zip(shares(pred), shares(gold), strict=True)
    return float(np.mean([[np.abs(a - b).sum() / 2 for a, b in zip(p, g, strict=True)] for p, g in pairs]))


SCORES: Mapping[str, Callable[[list[Any], list[Any], list[Any]], float]] = {
    "relmae": _relmae, "macro_f1": _macro_f1, "tv": _tv,
}  # fmt: skip


def by_numpy(gold: Texts, naive: Texts, said: Mapping[str, Texts]) -> dict[str, list[float]]:
    """Return the board's columns, from the texts alone."""
    kinds: dict[str, list[list[float]]] = {}
    topics: dict[str, list[list[float]]] = {}
    for task in tasks():
        name, metric = task.task, task.metrics[0].metric
        scores = []
        for texts in said.values():
            valid = [i for i, text in enumerate(texts[name]) if text != "no idea"]
            columns = [[json.loads(source[name][i]) for i in valid] for source in (texts, gold, naive)]
            scores.append(SCORES[metric](*columns))
        kinds.setdefault(f"{metric}:{task.kind}", []).append(scores)
        signed = np.array(scores) * (-1 if metric == "macro_f1" else 1)
        better, equal = signed[None, :] < signed[:, None], signed[None, :] == signed[:, None]
        topics.setdefault(task.topic, []).append((better.sum(axis=1) + (equal.sum(axis=1) + 1) / 2).tolist())
    ranks = {f"rank:{topic}": np.mean(found, axis=0) for topic, found in topics.items()}
    out = {name: np.mean(found, axis=0) for name, found in (kinds | {}).items()}
    out |= ranks
    out["rank"] = np.mean(list(ranks.values()), axis=0)
    out["rank:tasks"] = np.mean([line for found in topics.values() for line in found], axis=0)
    return {name: column.tolist() for name, column in out.items()}


def check(root: Path, *, models: int, rows: int, draws: int) -> dict[str, float]:
    """Make the run and its report; return seconds, and how far the board is from numpy's."""
    gold, naive, said = make(root, models, rows)
    start = time.perf_counter()
    words = [f"replay:{root / model},label={model}" for model in said]
    evaluate(f"{SUITE}/*", words, data=f"{SUITE}={root / 'data'}", out=root / "run")
    scored = time.perf_counter()
    (found,) = standings(Comparison.load([root / "run"]), View(resampling=Resampling(draws=draws)))
    reported = time.perf_counter()
    columns = {column.name: column.standing for column in found.leaderboard.columns}
    wanted = by_numpy(gold, naive, said)
    assert columns.keys() == wanted.keys(), columns.keys() ^ wanted.keys()
    order = [found.leaderboard.models.index(model) for model in said]
    far = max(float(np.abs(columns[name].values[order] - column).max()) for name, column in wanted.items())
    counts = {name: columns[name].tasks for name in ("relmae:numeric", "macro_f1:categorical", "tv:probability")}
    return {"evaluation": scored - start, "report": reported - scored, "difference": far, **counts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=15)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = check(Path(folder), models=given.models, rows=given.rows, draws=given.draws)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(tasks())} tasks x {given.models} models x {given.rows} rows, {given.draws:,} resamples")
    print(f"replayed and scored: {found['evaluation']:.1f} s; report: {found['report']:.1f} s; peak {peak:.0f} MiB")
    for name in ("relmae:numeric", "macro_f1:categorical", "tv:probability"):
        print(f"{name}: mean over {found[name]:.0f} tasks")
    print(f"largest difference from numpy, in averages and ranks: {found['difference']:.1e}")


if __name__ == "__main__":
    main()
