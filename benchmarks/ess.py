"""Block-out cross-validation of a random forest against the straightforward scikit-learn loop.

``python benchmarks/ess.py [--rows 5000] [--sizes 12] [--trees 300] [--blocks B] [--grow]``

The peer fits `RandomForestRegressor` on each block, standardised by the block, and predicts all other rows, with
``n_jobs=1`` and with ``n_jobs=2``. Errors of all blocks must be equal. With ``--blocks`` at most so many blocks a size
are timed and the time of the others is inferred, for machines that are busy or slow. ``cpu`` is the processor time of
this process and its workers, which other load disturbs least. ``--grow`` shows how our cost grows with rows and sizes.

The goals: 2.5 times as fast as ``n_jobs=1``, and faster than ``n_jobs=2``.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil
from joblib.externals.loky import get_reusable_executor
from sklearn.ensemble import RandomForestRegressor

from hbench.ess.blocks import deal, within
from hbench.ess.losses import squared
from hbench.ess.population import Population
from hbench.ess.processes import Processes
from hbench.learn import Cells, Feature, RandomForest

COLUMNS, SEED = 10, 42
Array = npt.NDArray[np.float64]


def data(rows: int) -> tuple[Array, Array]:
    """Make numeric predictors and an outcome with noise."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, COLUMNS))
    return x, x[:, 0] + np.abs(x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + rng.normal(size=rows)


def straightforward(x: Array, y: Array, size: int, budget: int | None, trees: int, jobs: int) -> Array:
    """Return each block's error by scikit-learn alone."""
    blocks = deal(len(x), size, seed=SEED)
    kept, errors = np.sort(blocks, axis=None), []
    for block in blocks[:budget]:
        centre, scale = x[block].mean(axis=0), x[block].std(axis=0)
        # Indicators of missing values are part of our design matrix; here they are all zero.
        design = np.hstack([(x - centre) / scale, np.zeros_like(x)])
        forest = RandomForestRegressor(trees, random_state=SEED, n_jobs=jobs).fit(design[block], y[block])
        others = np.setdiff1d(kept, block)
        errors.append(np.mean((forest.predict(design[others]) - y[others]) ** 2))
    return np.array(errors)


def ours(x: Array, y: Array, size: int, budget: int | None, trees: int, jobs: int) -> Array:
    """Return each block's error."""
    features = [Feature(f"x{i}", "numeric") for i in range(COLUMNS)]
    population = Population(Cells(x, np.empty((len(x), 0), np.int64), []), y, "number", 0, features)
    learner = RandomForest(trees, seed=SEED)
    return within(population, learner, size, squared, seed=SEED, budget=budget, executor=Processes(jobs))[0].errors


Loop = Callable[[Array, Array, int, int | None, int, int], Array]


def processor_time() -> float:
    """Return the seconds that this process and its workers, which stay up, have used so far."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def timed(
    loop: Loop, sizes: list[int], rows: int, budget: int | None, trees: int, jobs: int
) -> tuple[float, float, Any]:
    """Return wall and processor seconds of all blocks of all sizes, and the errors."""
    x, y = data(rows)
    wall = cpu = 0.0
    errors = []
    for size in sizes:
        count = rows // size
        fitted = count if budget is None else min(count, budget)
        begun, spent = time.perf_counter(), processor_time()
        errors.append(loop(x, y, size, budget, trees, jobs))
        wall += (time.perf_counter() - begun) * count / fitted
        cpu += (processor_time() - spent) * count / fitted
    return wall, cpu, np.concatenate(errors)


def sizes_of(rows: int, count: int) -> list[int]:
    """Return sizes of equal ratio from 5 to half of the rows."""
    return [int(size) for size in np.unique(np.rint(np.geomspace(5, rows // 2, count)).astype(int))]


def main() -> None:
    """Print one line a loop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--sizes", type=int, default=12)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--grow", action="store_true")
    given = parser.parse_args()
    sizes = sizes_of(given.rows, given.sizes)
    if given.grow:
        for rows in (given.rows // 4, given.rows // 2, given.rows):
            for count in (given.sizes // 2, given.sizes, given.sizes * 2):
                wall, cpu, _ = timed(ours, sizes_of(rows, count), rows, given.blocks, given.trees, 1)
                print(f"n = {rows:6,}  K = {count:3}  wall {wall:8.1f} s  cpu {cpu:8.1f} s")
        return
    print(f"n = {given.rows:,}, sizes {sizes}, {given.trees} trees")
    begun, spent = time.perf_counter(), processor_time()
    # Worker processes start before the clock does.
    ours(*data(200), 20, None, 2, 2)
    loops: list[tuple[str, Loop, int]] = [
        ("ours, 1 process", ours, 1),
        ("ours, 2 processes", ours, 2),
        ("scikit-learn, n_jobs=1", straightforward, 1),
        ("scikit-learn, n_jobs=2", straightforward, 2),
    ]
    found = {name: timed(loop, sizes, given.rows, given.blocks, given.trees, jobs) for name, loop, jobs in loops}
    equal = found["scikit-learn, n_jobs=1"][2]
    for name, (wall, cpu, errors) in found.items():
        apart = float(np.abs(errors - equal).max())
        print(f"{name:24} wall {wall:8.1f} s  cpu {cpu:8.1f} s  largest difference {apart:.1e}")
    for jobs, mine in ((1, "ours, 1 process"), (2, "ours, 2 processes")):
        (wall, cpu, _), (wall_of, cpu_of, _) = found[f"scikit-learn, n_jobs={jobs}"], found[mine]
        print(f"n_jobs={jobs} over {mine}: wall {wall / wall_of:.2f}  cpu {cpu / cpu_of:.2f}")
    best, alone = found["ours, 2 processes"][0], found["scikit-learn, n_jobs=1"][0]
    print(f"n_jobs=1 over ours, 2 processes: wall {alone / best:.2f}")
    print(f"took {time.perf_counter() - begun:.0f} s, {processor_time() - spent:.0f} s of processor time")
    get_reusable_executor().shutdown(wait=True)
    own, worker = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"peak memory: this process {own:,.0f} MiB, the largest worker {worker:,.0f} MiB")


if __name__ == "__main__":
    main()
