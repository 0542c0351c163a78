"""Pickle runs whatever a file holds. Nothing here reads one: not by name, and not where one lies in wait."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from hbench.model.task_fit import FitCache
from hbench.spec import Task

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "jsonpickle", "joblib.load"}
"""What is not imported. joblib itself starts processes of our own."""
READERS = {
    "joblib.load", "torch.load", "np.load", "numpy.load", "pd.read_pickle", "pandas.read_pickle", "pickle.load",
    "pickle.loads", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "eval", "exec", "marshal.loads", "shelve.open",
}  # fmt: skip
SAFE = {"weights_only=True", "allow_pickle=False"}


ENCODER = json.dumps({"features": [], "levels": {}, "centre": [], "scale": [], "empty": []}).encode()
TASK = Task.model_validate(
    {
        "task": "t",
        "suite": "s",
        "topic": "x",
        "source": "none",
        "key": {"id": "id"},
        "targets": [{"name": "y", "kind": "numeric"}],
        "prompt": {"paragraphs": ["?"]},
        "answer": {"parser": "json_array"},
        "metrics": ["mae"],
    }
)


def sources() -> Iterator[Path]:
    for folder in ("hbench", "plugins", "benchmarks"):
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")))


def unsafe(path: Path) -> list[str]:
    """Return the imports and calls of a file that could run what they read."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += [f"line {node.lineno}: import {name}" for name in names if name in FOREIGN]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            told = {ast.unparse(keyword).replace(" ", "") for keyword in node.keywords}
            if called in READERS and not told & SAFE:
                found.append(f"line {node.lineno}: {called}")
    return found


def test_the_source_reads_no_pickle() -> None:
    found = {str(path.relative_to(ROOT)): unsafe(path) for path in sources()}
    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "import cloudpickle as c",
        "torch.load('x')",
        "torch.load('x', weights_only=False)",
        "np.load('x', allow_pickle=True)",
        "yaml.load(text, Loader)",
        "exec(code)",
        "pd.read_pickle(path)",
    ],
)
def test_the_search_finds_each(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(line)
    assert unsafe(tmp_path / "a.py")
    (tmp_path / "a.py").write_text(
        "torch.load('x', weights_only=True)\nnp.load('x', allow_pickle=False)\nyaml.safe_load('x')"
    )
    assert unsafe(tmp_path / "a.py") == []


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "it-ran"


def test_the_bomb_would_go_off(mark: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.is_dir()


def test_pickles_in_the_folder_of_a_fit_are_not_loaded(
    tmp_path: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the digests beside them are right: the fits are made anew."""
    monkeypatch.setenv("HBENCH_CACHE", str(tmp_path / "cache"))
    cache, bomb = FitCache("xgboost", {}), pickle.dumps(Bomb(mark))
    about = json.dumps({"report": {}, "kind": "numeric", "best": 1}).encode()
    for good in (
        {},
        {"encoder.json": b"{}"},
        {"encoder.json": ENCODER},
        {"encoder.json": ENCODER, "target-0.json": about},
    ):
        folder = cache.folder(TASK, "data")
        folder.mkdir(parents=True)
        for name in ("encoder.json", "target-0.json", "target-0.ubj", "target-0.pkl", "model.joblib"):
            (folder / name).write_bytes(good.get(name, bomb))
        digests = sorted((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in folder.iterdir())
        (folder / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in digests))
        assert cache.find(TASK, "data") is None
        assert not folder.exists()
    assert not mark.exists()


def test_a_booster_that_is_a_pickle_is_refused_by_xgboost(tmp_path: Path, mark: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    (tmp_path / "a.ubj").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(ValueError, match=r"format|codec"):  # its own message may quote bytes that are no text
        xgboost.Booster().load_model(tmp_path / "a.ubj")
    assert not mark.exists()
