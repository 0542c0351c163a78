"""How long does it take to list 14,000 tasks, with and without a cached index?

    python benchmarks/listing.py [--files 14000] [--lm-eval]

Each figure is one whole process of `hbench ls tasks`, start-up and output included: wall time, and CPU time, which says
more on a busy machine. `--lm-eval` times lm-evaluation-harness on its own files (13,986 in version 0.4.13) beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SHARED = """\
survey: Synthetic survey
predictors:
  - {names: [age, income], section: demographics}
targets:
  - {name: spending, kind: numeric, unit: USD, no_change: spending_lag1}
"""
TASK = """\
include: [_shared.yaml]
task: {name}
title: "Synthetic task number {number}"
description: >-
  One of many tasks that differ in their name only, of the length that such files have.
topic: {topic}
source: synthetic
key: {{id: person, time: month}}
sample:
  - require: [spending_lag1, income]
  - at_least: {{income: {number}}}
split: {{unit: quarter}}
prompt:
  paragraphs:
    - You are {{{{ age }}}} years old.
    - Your income is {{{{ income | dollars }}}}.
    - "Answer with a JSON array of one number: [v_1]"
answer: {{parser: json_array, round: integer, aggregate: mean}}
metrics: [relmae, nmae]
"""
TOPICS = ("consumption", "income", "labor", "housing", "expectations")


def write(folder: Path, files: int) -> None:
    """Write tasks, a hundred to a folder."""
    (folder / "_suite.yaml").write_text("suite: many\ntitle: Many tasks\n")
    for number in range(files):
        part = folder / f"part_{number // 100:04}"
        if not number % 100:
            part.mkdir()
            (part / "_shared.yaml").write_text(SHARED)
        text = TASK.format(name=f"task_{number:05}", number=number, topic=TOPICS[number % len(TOPICS)])
        (part / f"task_{number:05}.yaml").write_text(text)


class Cost(NamedTuple):
    """What one process took."""

    wall: float
    cpu: float
    lines: int

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s wall  {self.cpu:6.2f} s CPU"


def listing(module: str, environment: dict[str, str]) -> Cost:
    """Run a program's `ls tasks` once."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", module, "ls", "tasks"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, done.stdout.count("\n"))


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=14_000)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--lm-eval", action="store_true")
    arguments = options.parse_args()
    hbench = "hbench.cli.main"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "tasks")
        folder.mkdir()
        write(folder, arguments.files)
        time.sleep(2.5)  # files as fresh as this are read again, since their stamps prove nothing yet
        cold = []
        for turn in range(2):
            environment = os.environ | {
                "HBENCH_TASK_PATH": str(folder),
                "HBENCH_CACHE": str(Path(name, f"cache{turn}")),
            }
            cold.append(listing(hbench, environment))
        warm = [listing(hbench, environment) for _ in range(arguments.repeat)]
        touched = folder / "part_0000" / "task_00000.yaml"
        touched.write_text(touched.read_text() + "# changed\n")
        edited = listing(hbench, environment)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{arguments.files:,} files, {cold[0].lines:,} lines of output; the best of 2 cold, of {arguments.repeat} warm"
    )
    print(f"cold             {min(cold)}")
    print(f"warm             {min(warm)}")
    print(f"one file edited  {edited}")
    print(f"peak memory      {peak:6.0f} MiB")
    if arguments.lm_eval:
        other = listing("lm_eval", dict(os.environ))
        print(f"lm-eval          {other}, {other.lines:,} lines")
        print(f"ratio of CPU     {other.cpu / min(cold).cpu:.1f} cold, {other.cpu / min(warm).cpu:.1f} warm")


if __name__ == "__main__":
    main()
