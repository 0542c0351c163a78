"""A server that misbehaves: everything arrives, nothing is scored twice, and it takes not much longer.

    python benchmarks/faults.py                    # 20,000 prompts; 5 % answered 429, 2 % 500, 1 % hung
    python benchmarks/faults.py --prompts 2000     # the same, smaller

The same command is run against a server without and with faults, in turn. Prompts hang until the time-out of one
second; whoever waits for another try holds no slot. The exit code says whether the targets are met.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from overhead import Cost, evaluation, measure, server, write

FAULTS = {"429": 0.05, "500": 0.02, "hang": 0.01}
LATENCY = 0.05
SLOTS = 64


def main() -> int:
    """Measure, print, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, 64)
        with server(LATENCY) as url:
            measure(evaluation(url, "warm-up"), folder)
        write(folder, given.prompts)
        clean, _ = run(folder, "clean", {})
        faulty, stats = run(folder, "faulty", FAULTS)
        answers, prompts = predictions(folder / "faulty")
    whole = answers == prompts == given.prompts
    once = stats["repeated"] == 0 and stats["answered"] == given.prompts
    ratio = faulty.wall / clean.wall
    print(f"everything arrived: {whole} ({answers:,} answers); nothing was answered twice: {once}")
    print(f"{ratio:.2f} times the clean run's wall time (< 1.5)")
    return 0 if whole and once and ratio < 1.5 else 1


def run(folder: Path, out: str, faults: dict[str, float]) -> tuple[Cost, dict[str, Any]]:
    """Evaluate against a server with these faults; return the cost and what the server counted."""
    words = [word for fault, share in faults.items() for word in ("--fault", f"{fault}={share}")]
    with server(LATENCY, *words) as url:
        cost = measure(evaluation(url, out, slots=SLOTS, more=",timeout=1"), folder)
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as response:
            stats = json.load(response)
    met = ", ".join(f"{count:,} {fault}" for fault, count in sorted(stats["faults"].items())) or "no faults"
    print(f"{out:>6}: {cost}   {stats['requests']:,} requests ({met})", flush=True)
    return cost, stats


def predictions(out: Path) -> tuple[int, int]:
    """Count the rows with an answer in a run's prediction files, and the different records among them."""
    rows = [
        row
        for path in (out / "predictions").rglob("*.jsonl")
        for row in map(json.loads, path.read_text().splitlines())
        if row.get("prediction") is not None
    ]
    return len(rows), len({row["id"] for row in rows})


if __name__ == "__main__":
    sys.exit(main())
