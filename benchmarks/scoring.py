"""Rows scored per second, from ten thousand to five million.

    python benchmarks/scoring.py [--largest 5000000]

Two ways: arrays that are there already (`score_target`), and a task's rows (`score_task` with RelMAE and nMAE, one row
in fifty invalid, so that the strict score is computed too). Rows per second are those of processor time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from hbench.core import Aligned, Failure
from hbench.core.target import MetricUse
from hbench.metric import ScoredRow, score_target, score_task
from hbench.metric.numeric import NMAE, RelMAE
from hbench.spec.task import Task

SIZES = (10_000, 100_000, 1_000_000, 5_000_000)
TASK = Task.model_validate(
    {
        "task": "scoring",
        "suite": "benchmarks",
        "topic": "benchmarks",
        "source": "none",
        "key": {"id": "id"},
        "targets": [{"name": "spending", "kind": "numeric"}],
        "prompt": {"paragraphs": ["How much?"]},
        "answer": {"parser": "json_array"},
        "metrics": ["relmae", "nmae"],
    }
)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the time that passed and the processor's, which other programs on the machine do not lengthen."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def arrays(size: int) -> tuple[float, float]:
    rng = np.random.default_rng(size)
    gold = rng.lognormal(8, 1, size)
    pred, naive = gold + rng.normal(0, 300, size), gold + rng.normal(0, 500, size)
    aligned = Aligned(pred, gold, rng.random(size) > 0.02, naive=naive)
    return seconds(lambda: [score_target(MetricUse(metric=m.name), m, aligned) for m in (RelMAE(), NMAE())])


def task(size: int) -> tuple[float, float]:
    rng = np.random.default_rng(size)
    gold = rng.lognormal(8, 1, size).tolist()
    pred, naive = rng.lognormal(8, 1, size).tolist(), rng.lognormal(8, 1, size).tolist()
    bad = Failure("parse", "expected_json_array")
    rows = [
        ScoredRow("", None, bad, (g,), (b,)) if i % 50 == 0 else ScoredRow("", (p,), None, (g,), (b,))
        for i, (p, g, b) in enumerate(zip(pred, gold, naive, strict=True))
    ]
    return seconds(lambda: score_task(TASK, rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    largest = parser.parse_args().largest
    print(f"{'rows':>10}  {'arrays s':>9}  {'CPU s':>7}  {'rows/s':>12}  {'task s':>9}  {'CPU s':>7}  {'rows/s':>12}")
    for size in (size for size in SIZES if size <= largest):
        fast, whole = arrays(size), task(size)
        print(f"{size:>10,}" + "".join(f"  {t:>9.3f}  {c:>7.3f}  {size / c:>12,.0f}" for t, c in (fast, whole)))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
