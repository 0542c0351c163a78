"""`hbench report --html` of a whole board: 32 tasks x 20 models x 200 records, and how it opens in a browser.

Records with made-up answers are written in the layout of the released evaluation samples, with prompts as long as real
ones (about 2,400 characters) and people's age, sex, income, education and race; half of the models reason (about 700
characters an answer). The texts are words of a long-tailed vocabulary, so that they shrink as texts do. Reported are
the seconds of each step, the site's size, and, where Chromium and Playwright are there, what a reader waits for.

Run: python benchmarks/static_site.py [--models 20] [--rows 200] [--draws 10000] [--out DIR]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from board import INVALID, SUITE, answers, tasks, write_lines

from hbench.report.comparison import Comparison, View
from hbench.report.site import write_site
from hbench.run.evaluate import evaluate
from hbench.stat import Resampling

PROMPT, REASONING = 380, 110
"""Words of a person's turn and of a model's reasoning."""

TURN = """async () => {
  const next = document.querySelector('[name="next"]'), view = document.getElementById("viewer");
  const waits = [];
  for (let i = 0; i < 60; i += 1) {
    const start = performance.now();
    next.click();
    do await new Promise(requestAnimationFrame); while (view.getAttribute("aria-busy") === "true");
    waits.push(performance.now() - start);
  }
  return waits;
}"""
"""Turns sixty pages of the viewer; milliseconds until each record is there."""


class Words:
    """Texts of made-up words, few of them frequent and most rare."""

    def __init__(self, size: int = 8_000) -> None:
        rng = np.random.default_rng(0)
        letters = np.array(list("etaoinshrdlucmfwyp"))
        self.known = ["".join(rng.choice(letters, length)) for length in rng.integers(2, 10, size)]
        share = 1 / np.arange(1, size + 1)
        self.share = share / share.sum()

    def text(self, rng: np.random.Generator, count: int) -> str:
        """Return some words."""
        return " ".join(self.known[i] for i in rng.choice(len(self.known), count, p=self.share))


def make(root: Path, models: int, rows: int) -> list[str]:
    """Write records and predictions; return the models' words."""
    words = Words()
    labels = [f"maker-{m // 4}/model-{m:02d}{'-reasoning' if m % 2 else ''}" for m in range(models)]
    files = [f"model{m:02d}" for m in range(models)]
    common = words.text(np.random.default_rng(1), 60)
    for number, task in enumerate(tasks()):
        rng = np.random.default_rng(number)
        gold, naive = answers(task, rows, rng), answers(task, rows, rng)
        # What all people of a task are told is the same; a quarter of a turn is about the person.
        frame = words.text(rng, PROMPT * 3 // 4)
        records = [
            {"id": f"p{i}", "time": "2020-01", "release_date": "2020-06-01", "system": common,
             "user": f"{words.text(rng, PROMPT // 4)}\n\n{frame}", "assistant": gold[i], "naive_baseline": naive[i],
             "predictors": {"age": int(rng.integers(18, 90)), "sex": str(rng.choice(["female", "male"])),
                            "income": float(rng.lognormal(10.5, 0.8)), "education": str(rng.choice(list("ABCD"))),
                            "race": str(rng.choice(["white", "black", "other"]))}}
            for i in range(rows)
        ]  # fmt: skip
        write_lines(root / "data" / task.task / "test.jsonl", records)
        for m, file in enumerate(files):
            other, luck = answers(task, rows, rng), rng.random((2, rows))
            lines = []
            for i in range(rows):
                said = gold[i] if luck[1, i] < m / (models + 2) else other[i]
                line: dict[str, Any] = {"id": f"p{i}", "time": "2020-01"}
                line["prediction"] = words.text(rng, 12) if luck[0, i] < INVALID else said
                if m % 2:
                    line["reasoning"] = words.text(rng, REASONING)
                lines.append(line)
            write_lines(root / file / f"{task.task}.jsonl", lines)
    return [f"replay:{root / file},label={label}" for file, label in zip(files, labels, strict=True)]


def opened(folder: Path) -> dict[str, float]:
    """Return what a reader waits for, in seconds; empty where there is no browser."""
    path = os.environ.get("HBENCH_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    if path is None:
        return {}
    command = [sys.executable, "-m", "hbench.cli.main", "view", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
                return waits(browser, server.stdout.readline().split()[0], next((folder / "tasks").iterdir()).name)
        finally:
            server.terminate()


def waits(browser: Any, address: str, task: str) -> dict[str, float]:
    """Return the seconds from asking for each page to its content, and from turning a page to the next record."""
    found = {}
    for name, ready in (
        ("index.html", "table.leaderboard"),
        ("scores.html", "#all-scores .sort"),
        (f"tasks/{task}#figures", "figure svg[role=img]"),
        ("analyses.html", "figure svg[role=img]"),
        ("compare.html", ".canvas svg[role=img]"),
        ("records.html", ".record-head"),
    ):
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(address + name, wait_until="load")
        page.locator(ready).first.wait_for()
        found[name] = time.perf_counter() - start
    turns = page.evaluate(TURN)
    found["a record turned (median of 60)"] = float(np.median(turns)) / 1000
    found["a record turned (longest of 60)"] = max(turns) / 1000
    start = time.perf_counter()
    page.get_by_role("searchbox").fill("no answer says this")
    page.get_by_text("no record fits").wait_for()
    found["a search of one task, all chunks loaded"] = time.perf_counter() - start
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="Keep the run and the site there.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = given.out or Path(folder)
        models = make(root, given.models, given.rows)
        start = time.perf_counter()
        evaluate(f"{SUITE}/*", models, data=f"{SUITE}={root / 'data'}", out=root / "run")
        scored = time.perf_counter()
        comparison = Comparison.load([root / "run"])
        steps: list[tuple[str, float]] = [("loading", time.perf_counter())]
        built = write_site(
            comparison, View(resampling=Resampling(draws=given.draws)), root / "site",
            say=lambda step: steps.append((step, time.perf_counter())),
        )  # fmt: skip
        done = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{len(tasks())} tasks x {given.models} models x {given.rows} records, {given.draws:,} resamples")
        print(f"replayed and scored: {scored - start:.1f} s; read again: {steps[0][1] - scored:.1f} s")
        ends = [*(moment for _, moment in steps[2:]), done]
        times = ", ".join(f"{step} {end - begin:.1f}" for (step, begin), end in zip(steps[1:], ends, strict=True))
        print(f"site: {done - steps[0][1]:.1f} s ({times}); peak {peak:.0f} MiB")
        records = sum(path.stat().st_size for path in (built.path / "records").rglob("*.gz"))
        pages = sum(path.stat().st_size for path in built.path.rglob("*.html"))
        print(
            f"{built.files:,} files, {built.bytes / 1e6:.1f} MB: records {records / 1e6:.1f}, pages {pages / 1e6:.1f}"
        )
        for what, seconds in opened(built.path).items():
            print(f"{what}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
