"""Coverage of nominal 95 % intervals by simulation.

Three mild designs, in which 93 to 97 % are to be reached, and harder ones whose true coverage is printed, so that a
reader of a table knows what its intervals are worth. n = 200 rows, as in HouseholdBench's evaluation samples.

Run: python benchmarks/coverage.py [--samples 2000] [--draws 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hbench.metric import ScoredRow, TaskStatistics, row_statistics
from hbench.spec.task import Task
from hbench.stat import Resampling, bootstrap_task

N = 200
KINDS = ("basic", "percentile", "studentised")
Sampler = Callable[[np.random.Generator, int], tuple[list[object], list[object], list[object]]]
"""Predictions, truth and no-change answers of so many rows."""


@dataclass(frozen=True)
class Design:
    """A population that rows are drawn from."""

    name: str
    mild: bool
    metric: str
    target: dict[str, object]
    sample: Sampler


def skewed(sigma: float) -> Sampler:
    """Log-normal outcomes; the prediction and the last value both miss by a log-normal factor."""

    def sample(rng: np.random.Generator, n: int) -> tuple[list[object], list[object], list[object]]:
        level = rng.normal(size=n)
        gold, pred, naive = (np.exp(sigma * (level + 0.5 * rng.normal(size=n))) for _ in range(3))
        return pred.tolist(), gold.tolist(), naive.tolist()

    return sample


def student(degrees: float) -> Sampler:
    """Outcomes round the prediction and the last value with Student errors."""

    def sample(rng: np.random.Generator, n: int) -> tuple[list[object], list[object], list[object]]:
        gold = 100 + 10 * rng.normal(size=n)
        pred, naive = (gold + 5 * rng.standard_t(degrees, size=n) for _ in range(2))
        return pred.tolist(), gold.tolist(), naive.tolist()

    return sample


def classes(shares: list[float], right: float) -> Sampler:
    """Classes of given shares; the prediction is right with some probability, else a draw of the shares."""
    labels = [str(i) for i in range(len(shares))]

    def sample(rng: np.random.Generator, n: int) -> tuple[list[object], list[object], list[object]]:
        gold, other, naive = (rng.choice(labels, size=n, p=shares).tolist() for _ in range(3))
        hit = rng.random(n) < right
        return [g if h else o for g, o, h in zip(gold, other, hit, strict=True)], gold, naive

    return sample


def vectors(concentration: float) -> Sampler:
    """Probability vectors over four bins, prediction and truth round a common one."""

    def sample(rng: np.random.Generator, n: int) -> tuple[list[object], list[object], list[object]]:
        centre = rng.dirichlet(np.ones(4), size=n) + 0.01
        draws = [rng.gamma(concentration * centre) for _ in range(3)]
        return tuple([tuple(map(float, row / row.sum())) for row in draw] for draw in draws)  # type: ignore[return-value]

    return sample


def _labels(count: int) -> dict[str, object]:
    return {"kind": "categorical", "labels": [str(i) for i in range(count)]}


NUMERIC: dict[str, object] = {"kind": "numeric"}
DESIGNS = (
    Design("RelMAE, normal-like errors (Student, 10 degrees)", True, "relmae", NUMERIC, student(10)),
    Design("macro-F1, three classes (50, 30, 20 %)", True, "macro_f1", _labels(3), classes([0.5, 0.3, 0.2], 0.5)),
    Design("TV, four bins", True, "tv", {"kind": "probability", "labels": list("abcd")}, vectors(10)),
    Design("RelMAE, skewed (log-normal, sigma 0.5)", False, "relmae", NUMERIC, skewed(0.5)),
    Design("RelMAE, skewed (log-normal, sigma 1)", False, "relmae", NUMERIC, skewed(1.0)),
    Design("RelMAE, very skewed (log-normal, sigma 2)", False, "relmae", NUMERIC, skewed(2.0)),
    Design("RelMAE, heavy tails (Student, 3 degrees)", False, "relmae", NUMERIC, student(3)),
    Design("RelMAE, no variance (Student, 2 degrees)", False, "relmae", NUMERIC, student(2)),
    Design("macro-F1, a class of 5 %", False, "macro_f1", _labels(3), classes([0.65, 0.3, 0.05], 0.5)),
    Design("macro-F1, a class of 2 % (4 rows)", False, "macro_f1", _labels(3), classes([0.68, 0.3, 0.02], 0.5)),
    Design("macro-F1, a class of 0.5 % (1 row)", False, "macro_f1", _labels(3), classes([0.695, 0.3, 0.005], 0.5)),
    Design("TV, mostly unchanged reports", False, "tv", {"kind": "probability", "labels": list("abcd")}, vectors(0.3)),
)


def task_of(design: Design) -> Task:
    return Task.model_validate(
        {
            "task": "simulated", "suite": "bench", "topic": "t", "source": "none", "key": {"id": "id"},
            "targets": [{"name": "y", **design.target}], "prompt": {"paragraphs": ["?"]},
            "answer": {"parser": "json_array"}, "metrics": [design.metric],
        }
    )  # fmt: skip


def statistics(design: Design, task: Task, rng: np.random.Generator, n: int) -> TaskStatistics:
    pred, gold, naive = design.sample(rng, n)
    rows = [ScoredRow(str(i), (pred[i],), None, (gold[i],), (naive[i],)) for i in range(n)]  # type: ignore[arg-type]
    return row_statistics(task, rows)


def truth(design: Design, task: Task, rng: np.random.Generator) -> float:
    """Return the score of a population of 400,000 (the ratio or mean that samples estimate)."""
    parts = [statistics(design, task, rng, 20_000) for _ in range(20)]
    return float(parts[0].uses[0].cells[0][0].metric.reduce(sum(part.exact_sums()[0][0] for part in parts)))  # type: ignore[union-attr]


def coverage(design: Design, *, samples: int, draws: int, seed: int = 1) -> dict[str, tuple[float, float]]:
    """Return the share of samples whose interval holds the truth, and the intervals' mean width, by kind."""
    rng = np.random.default_rng(seed)
    task = task_of(design)
    value = truth(design, task, rng)
    held = dict.fromkeys(KINDS, 0)
    widths: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for number in range(samples):
        one = {"model": statistics(design, task, rng, N)}
        how = Resampling(draws=draws, seed=number, kind="studentised")
        use = bootstrap_task("simulated", one, how).uses[0]
        for kind in KINDS:
            bounds = use.interval(0, Resampling(draws=draws, seed=number, kind=kind))  # type: ignore[arg-type]
            held[kind] += bounds.lo <= value <= bounds.hi
            widths[kind].append(bounds.hi - bounds.lo)
    return {kind: (held[kind] / samples, float(np.mean(widths[kind]))) for kind in KINDS}


def table(samples: int, draws: int) -> Iterator[str]:
    yield f"{'design (n = 200)':<52}" + "".join(f"{kind:>14}" for kind in KINDS) + "   mean width (basic)"
    for design in DESIGNS:
        found = coverage(design, samples=samples, draws=draws)
        cells = "".join(f"{100 * found[kind][0]:>13.1f}%" for kind in KINDS)
        yield f"{('* ' if design.mild else '  ') + design.name:<52}{cells}   {found['basic'][1]:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    print(f"true coverage of nominal 95 % intervals, {given.samples} samples of {given.draws} resamples (* mild)")
    for line in table(given.samples, given.draws):
        print(line, flush=True)
    error = 100 * (0.95 * 0.05 / given.samples) ** 0.5
    print(f"standard error of a coverage near 95 %: {error:.1f} points")


if __name__ == "__main__":
    main()
