"""The real suites' own tests, as their authors run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "needs"), [("randhie", "statsmodels"), ("wagepanel", "linearmodels")])
def test_a_suite_passes_its_own_tests(suite: str, needs: str) -> None:
    pytest.importorskip(needs)
    pytest.importorskip(f"hbench_{suite}")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(ROOT / "plugins" / f"hbench-{suite}" / "tests"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
