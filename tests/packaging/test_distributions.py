"""Wheel, sdist and editable install, each in an environment of its own, offer the same tasks and components."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.packaging


def _run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _install(environment: Path, *what: str) -> Path:
    """Make an environment, install `what` with its dependencies and return its interpreter."""
    python = environment / "bin" / "python"
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--quiet", "--python", sys.executable, environment)
        _run(uv, "pip", "install", "--quiet", "--python", python, *what)
    else:
        _run(sys.executable, "-m", "venv", environment)
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)
    return python


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and sdist from the committed and new files of the checkout."""
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    return out


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the checkout, since an editable install writes into it."""
    copy = tmp_path_factory.mktemp("checkout") / "hbench"
    listed = _run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


def _listing(python: Path, elsewhere: Path) -> dict[str, object]:
    def names(what: str) -> list[str]:
        rows = json.loads(_run(python, "-m", "hbench.cli.main", "ls", what, "--json", cwd=elsewhere))
        return sorted(row["name"] for row in rows)

    listing: dict[str, object] = {
        what: names(what) for what in ("tasks", "suites", "models", "metrics", "parsers", "sources")
    }
    plugins = json.loads(_run(python, "-m", "hbench.cli.main", "plugins", "--json", cwd=elsewhere))
    listing["broken"] = [row for row in plugins if row["status"] != "ok"]
    return listing


def test_every_way_of_installing_offers_the_same(distributions: Path, checkout: Path, tmp_path: Path) -> None:
    """The wheel carries the YAML files inside the suites' packages; a checkout has them in `task_yamls/`."""
    wheel = next(distributions.glob("*.whl"))
    sdist = next(distributions.glob("*.tar.gz"))
    listings = {
        "wheel": _listing(_install(tmp_path / "wheel", str(wheel)), tmp_path),
        "sdist": _listing(_install(tmp_path / "sdist", str(sdist)), tmp_path),
        "editable": _listing(_install(tmp_path / "editable", "--editable", str(checkout)), tmp_path),
    }
    assert listings["wheel"] == listings["sdist"] == listings["editable"]
    tasks = listings["wheel"]["tasks"]
    assert isinstance(tasks, list)
    assert "householdbench/cons_cex_total" in tasks
    assert "behaviorbench/surv_resp_pred" in tasks
    assert listings["wheel"]["broken"] == []
    for environment in ("wheel", "sdist", "editable"):
        assert not any((tmp_path / environment / "lib").glob("*/site-packages/torch")), "the core installed torch"
        assert not any((tmp_path / environment / "lib").glob("*/site-packages/pandas")), "the core installed pandas"


def test_wheel_holds_nothing_else(distributions: Path) -> None:
    """Tests, data and caches stay out of the wheel."""
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        tops = {name.split("/")[0] for name in wheel.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {
            "hbench",
            "hbench_householdbench",
            "hbench_behaviorbench",
        }
        assert not [name for name in wheel.namelist() if name.endswith((".parquet", ".csv", ".pyc"))]


def test_wheel_holds_all_of_the_site(distributions: Path) -> None:
    """Templates, scripts, the style sheet and the bundled library with its licences are files, not modules."""
    site = ROOT / "hbench" / "report" / "site"
    files = [path for folder in ("templates", "assets") for path in (site / folder).rglob("*") if path.is_file()]
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
        assert not [path for path in files if path.relative_to(ROOT).as_posix() not in held]
