"""The matrix of interruptions: commands, each interrupted at random points in every way, and run again.

    python -m tests.crash.matrix                              # 200 points of eval and build, 10 of report and train
    python -m tests.crash.matrix --points 20 --commands eval  # fewer
    python -m tests.crash.matrix --kinds power --points 100   # one kind

A point is a change to the files (a write, a sync, a new name), drawn from all that the undisturbed command makes. The
exit code says whether every run was made up for.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.interrupt import KINDS, Interruption
from tests.crash.scenarios import Scenario, demo_build, evaluation, raw_build, site, training, write_toy

LONG = ("report --html", "sft train")
"""Commands of which a twentieth of the points is tried."""


@dataclass
class Tally:
    """How the points of one command fared, by kind."""

    changes: int
    points: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[Interruption, str]] = field(default_factory=list)


def main() -> int:
    """Run the matrix and show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--commands", nargs="+", choices=("eval", "demo", "build", "report", "train"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hbench-crash-", dir=_memory()) as folder:
        tallies: dict[str, Tally] = {}
        for scenario in scenarios(Path(folder), given.commands or ("eval", "demo", "build", "report", "train")):
            points = max(1, given.points // 20) if scenario.name in LONG else given.points
            if scenario.name.startswith("data"):
                points = max(1, points // 2)  # there are two ways to build
            begun = time.monotonic()
            tallies[scenario.name] = tally = try_points(
                scenario, Path(folder) / "places", points, seed=given.seed, kinds=given.kinds, jobs=given.jobs
            )
            seconds = time.monotonic() - begun
            print(f"{scenario.name}: {points} of {tally.changes} changes, {seconds:.0f} s", flush=True)
            for what, fault in tally.faults:
                print(f"  {what.kind} at {what.at} (seed {what.seed}): {fault}", flush=True)
    print(table(tallies, given.kinds))
    return 1 if any(tally.faults for tally in tallies.values()) else 0


def try_points(
    scenario: Scenario, places: Path, points: int, *, seed: int, kinds: Sequence[str] = KINDS, jobs: int = 1
) -> Tally:
    """Interrupt a command at random points, all kinds in turn, and collect what was not made up for."""
    places.mkdir(exist_ok=True)
    expected, shown, changes = scenario.whole(places / "whole")
    shutil.rmtree(places / "whole")
    tally = Tally(changes)
    draw = random.Random(f"{seed} {scenario.name}")
    todo = [Interruption(kinds[i % len(kinds)], draw.randint(1, changes), draw.randrange(1000)) for i in range(points)]

    def attempt(numbered: tuple[int, Interruption]) -> tuple[Interruption, bool, str]:
        number, what = numbered
        place = places / f"{number}"
        try:
            return what, scenario.survive(place, what, expected, shown), ""
        except AssertionError as error:
            return what, True, str(error) or repr(error)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    with ThreadPoolExecutor(jobs) as pool:
        for what, reached, fault in pool.map(attempt, enumerate(todo)):
            tally.points[what.kind] += 1
            tally.reached[what.kind] += reached
            if fault:
                tally.faults.append((what, fault))
    return tally


def scenarios(root: Path, names: Sequence[str]) -> Iterator[Scenario]:
    """Yield the commands with what they need, made below `root`."""
    write_toy(root / "toy")
    if "eval" in names:
        yield evaluation(root / "toy")
    if "demo" in names:
        yield demo_build()
    if "build" in names:
        yield raw_build(write_raw(root / "raw"))
    if "report" in names:
        yield site(write_run(root))
    if "train" in names:
        from tests.train import tiny

        settings = tiny.FAST | {"max_steps": 6, "eval_every": 2, "eval_records": 2}
        yield training(tiny.base(root / "base"), tiny.examples(root / "set"), settings)


def write_raw(raw: Path) -> Path:
    """Write the synthetic raw files of one source."""
    from hbench.plugin import default_registry

    raw.mkdir()
    default_registry().get("source", "bigfive", suite="behaviorbench")().demo(raw, seed=42, scale=0.1)
    return raw


def write_run(root: Path) -> Path:
    """Evaluate a model, so that there is a run to report on."""
    scenario = evaluation(root / "toy")
    scenario.whole(root / "run")
    return root / "run" / "files" / "run"


def table(tallies: dict[str, Tally], kinds: Sequence[str]) -> str:
    """Return how many points were tried, and reached before the command's end, as a table."""
    lines = [["interruption", *tallies], ["---"] * (len(tallies) + 1)]
    for kind in kinds:
        faults = {name: sum(what.kind == kind for what, _ in tally.faults) for name, tally in tallies.items()}
        cells = [
            f"{tally.points[kind]} tried, {tally.reached[kind]} met"
            + (f", {faults[name]} faults" if faults[name] else "")
            for name, tally in tallies.items()
        ]
        lines.append([kind, *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(tally: Tally, kind: str) -> str:
    faults = sum(what.kind == kind for what, _ in tally.faults)
    return f"{tally.points[kind]} tried, {tally.reached[kind]} met" + (f", {faults} faults" if faults else "")


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # Syncing costs nothing there.


if __name__ == "__main__":
    sys.exit(main())
