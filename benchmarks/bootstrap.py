"""Time and memory of the paired bootstrap: 32 tasks x 200 rows x 15 models x 10,000 draws, with ranks.

Prints what it took, how far it is from a direct loop over the same draws, and how much faster it is than calling
scikit-learn for every draw (measured on a part in the same run).

Run: python benchmarks/bootstrap.py
"""

from __future__ import annotations

import resource
import time

import numpy as np

from hbench.metric import ScoredRow, TaskStatistics, row_statistics
from hbench.spec.task import Task
from hbench.stat import Board, Resampling, bootstrap_counts, bootstrap_task, place

MODELS, ROWS, DRAWS = 15, 200, 10_000
KINDS = ("numeric",) * 18 + ("categorical",) * 9 + ("probability",) * 5
METRIC = {"numeric": "relmae", "categorical": "macro_f1", "probability": "tv"}
LABELS = ["a", "b", "c", "d"]
TOPICS = ("consumption", "housing", "income", "labor", "macro")


def make(kind: str, number: int, rng: np.random.Generator) -> tuple[Task, dict[str, TaskStatistics]]:
    target: dict[str, object] = {"name": "y", "kind": kind}
    if kind != "numeric":
        target["labels"] = LABELS
    page = {
        "task": f"task{number}", "suite": "bench", "topic": TOPICS[number % 5], "source": "none", "key": {"id": "id"},
        "targets": [target], "prompt": {"paragraphs": ["?"]}, "answer": {"parser": "json_array"},
        "metrics": [METRIC[kind]],
    }  # fmt: skip
    task = Task.model_validate(page)

    def sample() -> list[object]:
        if kind == "numeric":
            return list(rng.lognormal(size=ROWS))
        if kind == "categorical":
            return list(rng.choice(LABELS, size=ROWS, p=[0.4, 0.3, 0.2, 0.1]))
        return [tuple(row) for row in rng.dirichlet(np.ones(4), size=ROWS)]

    gold, naive = sample(), sample()
    found = {}
    for model in range(MODELS):
        pred = sample()
        rows = [
            ScoredRow(str(i), None if rng.random() < 0.02 else (pred[i],), None, (gold[i],), (naive[i],))
            for i in range(ROWS)
        ]
        found[f"model{model}"] = row_statistics(task, rows)
    return task, found


def bootstrap(tasks: list[tuple[Task, dict[str, TaskStatistics]]], resampling: Resampling) -> tuple[Board, int]:
    models = tuple(tasks[0][1])
    placed, intervals = [], 0
    for task, statistics in tasks:
        draws = bootstrap_task(task.name, statistics, resampling)
        for model in range(len(models)):
            draws.uses[0].interval(model, resampling)
            intervals += 1
        placed.append(place(task.name, topic=task.topic, mode=task.mode, kind=task.kind, draws=draws, models=models))
    board = Board(models, tuple(placed), resampling)
    standings = [board.overall_rank(), board.task_rank(), *board.averages().values()]
    standings += [board.topic_rank(topic) for topic in board.topics]
    for standing in standings:
        for model in range(len(models)):
            standing.interval(model, resampling)
            intervals += 1
    return board, intervals


def direct(statistics: TaskStatistics, counts: np.ndarray) -> np.ndarray:
    """Score every resample by itself: repeat the drawn rows, add them up, reduce."""
    use = statistics.uses[0]
    cell = use.cells[0][0]
    matrix = statistics.blocks[0].matrix[:, cell.start : cell.stop]
    return np.array([
        cell.metric.reduce(matrix[np.repeat(np.arange(len(matrix)), row.astype(int))].sum(axis=0)) for row in counts
    ])  # fmt: skip


def with_sklearn(task: Task, draws: int, rng: np.random.Generator) -> float:
    """Return the seconds that scikit-learn takes for a draw of one model on a categorical task."""
    from sklearn.metrics import f1_score

    gold, pred = rng.choice(LABELS, size=ROWS), rng.choice(LABELS, size=ROWS)
    start = time.perf_counter()
    for _ in range(draws):
        drawn = rng.integers(0, ROWS, size=ROWS)
        f1_score(gold[drawn], pred[drawn], labels=LABELS, average="macro", zero_division=0)
    return (time.perf_counter() - start) / draws


def ours(task: Task, statistics: dict[str, TaskStatistics], resampling: Resampling) -> float:
    """Return the seconds for a draw of one model on the same task."""
    start = time.perf_counter()
    bootstrap_task(task.name, statistics, resampling)
    return (time.perf_counter() - start) / (resampling.draws * len(statistics))


def main() -> None:
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    tasks = [make(kind, number, rng) for number, kind in enumerate(KINDS)]
    print(f"row statistics of {len(tasks)} tasks x {MODELS} models: {time.perf_counter() - start:.2f} s")
    resampling = Resampling(draws=DRAWS)
    before, cpu = time.perf_counter(), time.process_time()
    _, intervals = bootstrap(tasks, resampling)
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"bootstrap with ranks and {intervals} intervals: {seconds:.2f} s ({cpu:.2f} s of processor time)")
    print(f"peak memory: {peak:.0f} MiB")

    worst = 0.0
    for number in (0, 18, 27):
        task, statistics = tasks[number]
        counts = bootstrap_counts(ROWS, 200, seed=resampling.seed, task=task.name)
        draws = bootstrap_task(task.name, statistics, Resampling(draws=200))
        for m, one in enumerate(statistics.values()):
            worst = max(worst, float(np.abs(direct(one, counts) - draws.uses[0].draws[m]).max()))
    print(f"largest difference from a direct loop: {worst:.1e}")

    task, statistics = tasks[18]
    mine = ours(task, statistics, resampling)
    theirs = with_sklearn(task, 200, rng)
    print(f"macro-F1 per draw and model: scikit-learn {theirs * 1e6:.0f} us, hbench {mine * 1e6:.2f} us")
    print(f"times faster: {theirs / mine:.0f}")


if __name__ == "__main__":
    main()
