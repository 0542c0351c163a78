"""Parts of a benchmark, each in a process of its own: its count, time and peak memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hbench.core import Source

Part = Callable[[Path, Path], int]
"""Works on a folder of raw files and a folder of results; returns a count."""
Figures = dict[str, float]
"""``count``, ``seconds``, ``cpu`` (seconds of all threads, imports included) and ``mib`` (peak memory)."""


def measure(part: str, raw: Path, out: Path) -> Figures:
    """Run one part of the script that runs, in a process of its own; see `answer`."""
    command = [sys.executable, "-W", "ignore", sys.argv[0], "--one", part, str(raw), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: Figures = json.loads(done.stdout.splitlines()[-1])
    return result


def answer(part_of: Callable[[str], Part]) -> bool:
    """Run the part that the command line asks for, and print its figures; return whether it asks for one."""
    if sys.argv[1:2] != ["--one"]:
        return False
    start = time.perf_counter()
    count = part_of(sys.argv[2])(Path(sys.argv[3]), Path(sys.argv[4]))
    seconds, usage = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu, mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    print(json.dumps({"count": count, "seconds": seconds, "cpu": cpu, "mib": mib}))
    return True


def show(size: str, part: str, got: Figures) -> None:
    """Print a part's figures."""
    print(
        f"{size:>11} {part:<24} {got['count']:>11,} {got['seconds']:>8.2f} {got['cpu']:>7.2f} {got['mib']:>9.0f}",
        flush=True,
    )


def show_head(size: str) -> None:
    """Print the head of such lines."""
    print(f"{size:>11} {'part':<24} {'count':>11} {'seconds':>8} {'CPU s':>7} {'peak MiB':>9}")


def times(theirs: Figures, *ours: Figures) -> str:
    """Say how many times as fast we are."""
    wall, cpu = (theirs[unit] / sum(one[unit] for one in ours) for unit in ("seconds", "cpu"))
    return f"{wall:.1f} times as fast by wall time, {cpu:.1f} by CPU time"


def grow(sources: Callable[[], Sequence[Source]], parts: Mapping[str, Part], scales: Sequence[float]) -> None:
    """Measure all parts on synthetic files of several scales, and compare ``ours`` with ``pandas``."""
    if answer(parts.__getitem__):
        return
    show_head("scale")
    peaks = []
    for scale in [float(text) for text in sys.argv[1:]] or scales:
        with tempfile.TemporaryDirectory() as folder:
            raw, out = Path(folder) / "raw", Path(folder) / "out"
            out.mkdir()
            for source in sources():
                source.demo(raw, seed=1, scale=scale)
            got = {part: measure(part, raw, out) for part in parts}
        for part, figures in got.items():
            show(f"{scale:g}", part, figures)
        if got["ours"]["count"] != got["pandas"]["count"]:
            raise SystemExit("the pipelines differ in their rows")
        peaks.append(got["ours"]["mib"])
        print(f"  {times(got['pandas'], got['ours'])}; {peaks[-1] / peaks[0]:.2f} times the first scale's memory")


def sample(task_name: str, tables: Sequence[str], out: Path) -> int:
    """Run the steps of a task on tables in `out`, of which it starts from the first, and write its rows; count them."""
    import polars as pl

    from hbench.data import StepContext
    from hbench.data.sample import write_steps
    from hbench.plugin import default_registry
    from hbench.spec import discover

    task = discover().get(task_name).load()
    scans = {name: pl.scan_parquet(out / f"{name}.parquet") for name in tables}
    source = scans[tables[0]]
    registry = default_registry()
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        funnel = write_steps(
            source,
            task.sample,
            StepContext(task, source, scans, scratch=Path(scratch)),
            resolve=lambda name: registry.get("step", name, suite=task.suite),
            path=Path(scratch) / "rows.parquet",
        )
    count: int = funnel.rows[-1].rows
    return count
