"""Rows per second and peak memory of the quarter split with its samples, at growing sizes.

Run: python benchmarks/splits.py [ROWS ...]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

SIZES = (10_000, 100_000, 1_000_000, 5_000_000)


def measure(n: int) -> dict[str, float]:
    """Split n rows of 200 quarters, a tenth of them after the cut-off; return seconds, rows a second, MiB."""
    import numpy as np
    import polars as pl

    from hbench.data.splits import quarter

    rng = np.random.default_rng(1)
    month = rng.integers(0, 600, n)
    frame = pl.DataFrame({"month": month, "number": rng.permutation(n)}).select(
        id=pl.format("household-{}", "number"),
        time=pl.format(
            "{}-{}-01",
            pl.col("month") // 12 + 1976,
            (pl.col("month") % 12 + 1).cast(pl.String).str.zfill(2),
        ),
        release_date=pl.Series(np.where(rng.random(n) < 0.1, "2026-03-01", "2020-01-01")),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, cpu = time.perf_counter(), time.process_time()
    quarter(frame, task="benchmark")
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "rows": n,
        "seconds": seconds,
        "cpu": cpu,
        "rows_per_second": n / seconds,
        "mib_before": before,
        "mib_peak": peak,
    }


def main() -> None:
    """Measure each size in a process of its own, since peak memory never falls."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    print(f"{'rows':>10} {'seconds':>9} {'CPU s':>7} {'rows/s':>12} {'MiB before':>11} {'MiB peak':>9}")
    for n in [int(text) for text in sys.argv[1:]] or SIZES:
        done = subprocess.run([sys.executable, __file__, "--one", str(n)], capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        print(
            f"{n:>10,} {row['seconds']:>9.2f} {row['cpu']:>7.2f} {row['rows_per_second']:>12,.0f} "
            f"{row['mib_before']:>11,.0f} {row['mib_peak']:>9,.0f}"
        )


if __name__ == "__main__":
    main()
