"""The real suites, installed from their folders and from their wheels."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.blocks import Block, Shell

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.packaging
SUITES = [("randhie", "rand_visit_shares", 4), ("wagepanel", "union_next_year", 3)]


@pytest.mark.parametrize(("suite", "task", "tasks"), SUITES)
@pytest.mark.parametrize("form", ["folder", "wheel"])
def test_a_project_installs_and_runs(tmp_path: Path, suite: str, task: str, tasks: int, form: str) -> None:
    folder = tmp_path / f"hbench-{suite}"
    shutil.copytree(ROOT / "plugins" / folder.name, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    what = folder
    if form == "wheel":
        pytest.importorskip("build")
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(folder)]
        subprocess.run(build, check=True, capture_output=True)
        (what,) = tmp_path.glob("*.whl")
        with zipfile.ZipFile(what) as wheel:
            tops = {name.partition("/")[0] for name in wheel.namelist()}
        assert tops == {f"hbench_{suite}", f"hbench_{suite}-0.1.0.dist-info"}
    shell = Shell(tmp_path)
    shell.install(what)

    def say(text: str) -> str:
        return shell.run(Block("bash", None, text, 0))

    python = shell.bin / "python"
    assert str(tmp_path) in say(f"{python} -c 'import hbench_{suite} as m; print(m.__file__)'")
    (row,) = json.loads(say(f"hbench ls suites {suite} --json"))
    assert (row["tasks"], row["data"], row["from"]) == (tasks, "package", [f"hbench-{suite} 0.1.0"])
    said = say(f"hbench eval --tasks {task} --model no_change --model marginal --model linear --plain --out run")
    assert "100.0%" in said
    assert f"hbench-{suite}" in (shell.folder / "run" / "manifest.json").read_text()
