"""How long does it take to list 14,000 tasks, with and without a cached index?

    python benchmarks/listing.py [--files 14000]

Each figure is one whole process of `hbench ls tasks`, start-up and output included. For comparison, the same job takes
lm-evaluation-harness 24 s for its own 13,986 files (`lm_eval ls tasks`, two cores).
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


def listing(environment: dict[str, str]) -> tuple[float, int]:
    """Run the command once; return seconds and lines."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "hbench.cli.main", "ls", "tasks"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, done.stdout.count("\n")


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=14_000)
    options.add_argument("--repeat", type=int, default=5)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name, "tasks"), Path(name, "cache")
        folder.mkdir()
        write(folder, arguments.files)
        time.sleep(2.5)  # files as fresh as this are read again, since their stamps prove nothing yet
        environment = os.environ | {"HBENCH_TASK_PATH": str(folder), "HBENCH_CACHE": str(cache)}
        cold, lines = listing(environment)
        warm = min(listing(environment)[0] for _ in range(arguments.repeat))
        touched = folder / "part_0000" / "task_00000.yaml"
        touched.write_text(touched.read_text() + "# changed\n")
        changed, _ = listing(environment)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{arguments.files:,} files, {lines:,} lines of output")
    print(f"cold           {cold:6.2f} s")
    print(f"warm           {warm:6.2f} s (best of {arguments.repeat})")
    print(f"one file edited {changed:5.2f} s")
    print(f"peak memory    {peak:6.0f} MiB")


if __name__ == "__main__":
    main()
