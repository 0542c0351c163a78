"""What grows when there is much of something: seconds of the processor and MiB, and how they grow.

    python benchmarks/load.py records      # a model that answers at once, 10,000, 100,000 and 1,000,000 records
    python benchmarks/load.py models       # 10, 30 and 100 models on 32 tasks in one run, its report and its site
    python benchmarks/load.py files        # 50, 500 and 5,000 task files: list, validate, evaluate one of them
    python benchmarks/load.py prompts      # prompts of 100, 1,000 and 10,000 characters, 2,000 of each over a server

Every figure is that of a process of its own; memory is its largest. Time may grow as the size does, and memory by so
many bytes of each thing more. The exit code says whether the targets are met; the processor's time decides, since the
wall's depends on who else is at work.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import listing
from overhead import NULL, Cost, evaluation, measure, server, write

SLACK = 1.5
"""How much more than in proportion time may grow from the middle size to the largest."""
TABLE = "person,month,age,income,spending,spending_lag1\nann,2020-01,30,52000,1100,1000\n"
BOARD = "import sys, board, pathlib; board.make(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))"
HERE = Path(__file__).parent
HBENCH = [sys.executable, "-m", "hbench.cli.main"]


@dataclass(frozen=True)
class Curve:
    """What one command took at rising sizes.

    Attributes
    ----------
    unit : str
        What is counted.
    each : float
        KiB that one thing more may take.
    """

    unit: str
    each: float
    costs: Mapping[int, Cost]

    def judge(self) -> bool:
        """Print how time and memory grow from the middle size on, and return whether they may."""
        small, middle, large = sorted(self.costs)
        first, second, third = (self.costs[size] for size in (small, middle, large))
        # Beyond start-up, which the smallest size shows well enough.
        grown = (third.cpu - first.cpu) / (large - small) / max((second.cpu - first.cpu) / (middle - small), 1e-9)
        start = second.cpu - first.cpu < 0.5  # so little that it says nothing of growth
        kib = (third.mib - second.mib) * 1024 / (large - middle)
        took = (third.cpu - first.cpu) / (large - small) * 1e3
        print(
            f"  {took:.3g} ms CPU for each of the {self.unit}, {'' if start else f'{grown:.2f} times that before '}"
            f"(< {SLACK}); {kib:.3g} KiB (< {self.each:g})",
            flush=True,
        )
        return (start or grown < SLACK) and kib < self.each


def curve(unit: str, sizes: Sequence[int], each: float, command: Callable[[int], Cost]) -> Curve:
    """Run a command at each size."""
    costs = {}
    for size in sizes:
        costs[size] = command(size)
        print(f"{size:>9,} {unit}: {costs[size]}", flush=True)
    return Curve(unit, each, costs)


def records(folder: Path, sizes: Sequence[int]) -> bool:
    """Evaluate records with a model that answers at once."""

    def command(size: int) -> Cost:
        write(folder, size)
        cost = measure([sys.executable, "-c", NULL, f"null{size}"], folder)
        answered = sum(1 for _ in next((folder / f"null{size}").rglob("*.jsonl")).open())
        if answered != size:
            raise SystemExit(f"{answered:,} of {size:,} records have an answer")
        return cost

    command(100)  # bytecode is there afterwards
    return curve("records", sizes, 0.5, command).judge()


def models(folder: Path, sizes: Sequence[int], rows: int) -> bool:
    """Evaluate prediction files of many models in one run, report it, and write its site."""
    # A process's largest memory is at least that of the one that starts it, so this one stays small.
    subprocess.run([sys.executable, "-c", BOARD, str(folder), str(max(sizes)), str(rows)], cwd=HERE, check=True)
    evaluated, reported, sites = {}, {}, {}
    for size in sizes:
        words = [word for m in range(size) for word in ("--model", f"replay:model{m},label=model-{m:03}")]
        where = ["--tasks", "householdbench/*", "--data", "householdbench=data", "--out", f"run{size}"]
        evaluated[size] = measure([*HBENCH, "eval", *where, *words], folder)
        reported[size] = measure([*HBENCH, "report", f"run{size}"], folder)
        sites[size] = measure([*HBENCH, "report", f"run{size}", "--html", f"site{size}"], folder)
        for what, costs in (("eval", evaluated), ("report", reported), ("report --html", sites)):
            print(f"{size:>9,} models, {what:>13}: {costs[size]}", flush=True)
    judged = []
    # A report holds the resamples of all models at once: 10,000 for each task and metric.
    for what, costs, each in (("eval", evaluated, 2048.0), ("report", reported, 32768.0), ("site", sites, 32768.0)):
        print(what)
        judged.append(Curve("models", each, costs).judge())
    return all(judged)


def files(folder: Path, sizes: Sequence[int]) -> bool:
    """List, validate and evaluate one of many task files."""
    commands = {"ls tasks": [*HBENCH, "ls", "tasks"], "validate": [*HBENCH, "validate"]}
    found: dict[str, dict[int, Cost]] = {"ls, cold": {}, "ls, again": {}, "validate": {}, "eval of one": {}}
    row = {"id": "a", "time": "2020-01", "user": "How much?", "assistant": "[1]", "naive_baseline": "[2]"}
    for size in sizes:
        place = folder / str(size)
        tasks = place / "tasks"
        tasks.mkdir(parents=True)
        listing.write(tasks, size)
        for file in tasks.glob("part_*/task_*.yaml"):
            file.write_text(file.read_text().replace("source: synthetic", "source: {file: people.csv}"))
        for part in tasks.glob("part_*"):
            (part / "people.csv").write_text(TABLE)
        for name, line in ("data", row), ("answers", {"id": "a", "time": "2020-01", "prediction": "[1]"}):
            (place / name).mkdir()
            (place / name / "task_00007.jsonl").write_text(json.dumps(line) + "\n")
        time.sleep(2.5)  # files as fresh as this are read again, since their stamps prove nothing yet
        own = {"HBENCH_CACHE": str(place / "cache"), "HBENCH_DATA": str(place / "store")}
        one = [*HBENCH, "eval", "--tasks", "task_00007", "--data", "data", "--include-path", "tasks", "--out", "run"]
        found["ls, cold"][size] = measure([*commands["ls tasks"], "--include-path", "tasks"], place, own)
        found["ls, again"][size] = measure([*commands["ls tasks"], "--include-path", "tasks"], place, own)
        found["validate"][size] = measure([*commands["validate"], "tasks"], place, own)
        found["eval of one"][size] = measure([*one, "--model", "replay:answers"], place, own)
        for what, costs in found.items():
            print(f"{size:>9,} files, {what:>11}: {costs[size]}", flush=True)
    judged = []
    for what, costs in found.items():
        print(what)
        judged.append(Curve("files", 24.0, costs).judge())
    return all(judged)


def prompts(folder: Path, sizes: Sequence[int], count: int) -> bool:
    """Ask a server prompts of rising length."""

    def command(size: int) -> Cost:
        write(folder, count, sentences=math.ceil((size - 60) / 80))
        longest = max(len(json.loads(line)["user"]) for line in (folder / "data" / "spend.jsonl").open())
        with server(0.0) as url:
            cost = measure(evaluation(url, f"run{size}"), folder)
        print(f"{longest:>9,} characters in the longest of {count:,} prompts", flush=True)
        return cost

    command(100)  # bytecode is there afterwards
    # Of a prompt's length there may be some copies for each request in flight, and of its characters none is kept.
    return curve("characters a prompt", sizes, 4.0, command).judge()


def main() -> int:
    """Measure, print, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["records", "models", "files", "prompts"])
    parser.add_argument("--sizes", type=int, nargs=3, metavar="SIZE", help="three, rising")
    parser.add_argument("--rows", type=int, default=200, help="records of each task, with many models")
    parser.add_argument("--prompts", type=int, default=2_000, help="prompts of each length")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        match given.what:
            case "records":
                met = records(folder, given.sizes or (10_000, 100_000, 1_000_000))
            case "models":
                met = models(folder, given.sizes or (10, 30, 100), given.rows)
            case "files":
                met = files(folder, given.sizes or (50, 500, 5_000))
            case _:
                met = prompts(folder, given.sizes or (100, 1_000, 10_000), given.prompts)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
