"""Task files, models' words and selections that nobody meant: errors of ours alone, with their place."""

from __future__ import annotations

import os
import random
import shutil
from functools import partial
from pathlib import Path

import pytest

from hbench.core import HbenchError, ModelError, SelectionError, SpecError
from hbench.model.spec import ModelSpec
from hbench.plugin import default_registry
from hbench.spec import discover
from hbench.spec.index import TaskIndex
from hbench.spec.load import read_page, read_task
from hbench.testing.task_faults import task_faults

from .damage import crash, damaged
from .texts import mutated, words

INPUTS = int(os.environ.get("HBENCH_FUZZ_INPUTS", "400"))


@pytest.fixture(scope="session")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the installed suites' folders."""
    copy = tmp_path_factory.mktemp("suites")
    for root in sorted({entry.root for entry in discover().entries}):
        shutil.copytree(root, copy / root.parent.name / root.name, dirs_exist_ok=True)
    return copy


def _files(suites: Path) -> list[Path]:
    return sorted(suites.rglob("*.yaml"))


def _loaded(path: Path) -> SpecError | None:
    """Read a task as every command does, and check it as `hbench validate` does."""
    task, faults = read_task(path)
    for fault in faults:
        assert isinstance(fault, SpecError)
        assert fault.file is not None
        assert fault.line is not None or "empty" in fault.message or "broken YAML" in fault.message, fault
    if task is not None:
        for found in task_faults(task, file=path, root=path.parent, registry=default_registry()):
            assert isinstance(found, HbenchError)
    return None


def test_mutated_specs_are_read_or_refused_with_file_and_line(suites: Path) -> None:
    rng, files = random.Random(0), [path for path in _files(suites) if not path.name.startswith("_")]
    for number in range(INPUTS):
        path, other = rng.choice(files), rng.choice(files)
        text = path.read_text(encoding="utf-8")
        try:
            path.write_bytes(mutated(rng, text, other.read_text(encoding="utf-8")).encode("utf-8", "surrogatepass"))
            wrong = crash(partial(_loaded, path), path)
            assert wrong is None, (number, path.name, path.read_bytes()[:3000], wrong)
        finally:
            path.write_text(text, encoding="utf-8")


def test_damaged_specs_and_pages_are_refused(suites: Path) -> None:
    rng, files = random.Random(1), _files(suites)
    for number in range(INPUTS):
        path, other = rng.choice(files), rng.choice(files)
        data = path.read_bytes()
        try:
            path.write_bytes(damaged(data, rng, other.read_bytes()))
            read = read_page if path.name == "_suite.yaml" else _loaded
            wrong = crash(partial(read, path), path)
            assert wrong is None, (number, path.name, path.read_bytes()[:3000], wrong)
        finally:
            path.write_bytes(data)


def test_an_index_of_damaged_files_is_whole(suites: Path) -> None:
    """A listing names what is no task, and loses none of the others."""
    rng, folder = random.Random(2), next(path for path in suites.rglob("householdbench") if path.is_dir())
    files = sorted(path for path in folder.glob("*.yaml") if not path.name.startswith("_"))
    for path in files[::2]:
        path.write_bytes(damaged(path.read_bytes(), rng))
    index = discover([folder])
    listed = {Path(item.path) for item in (*index.entries, *index.broken)}
    assert listed >= set(files)


@pytest.mark.parametrize("base", ["openai:gpt-5,temperature=0.5,base_url=http://x/v1", "ensemble:a,b,weights=[1,2]",
                                  "marginal:mode=sample", "replay:'a, b',label=\"x\",stop=[\"a\"]"])  # fmt: skip
def test_words_for_models(base: str) -> None:
    rng, made = random.Random(base), 0
    for _ in range(5 * INPUTS):
        text = words(rng, base)
        try:
            spec = ModelSpec.parse(text)
        except ModelError:
            continue
        made += 1
        assert spec.text == text.strip()
        assert spec.slug
        # The words mean the same again.
        assert ModelSpec.parse(spec.text) == spec
    assert made > INPUTS // 4


@pytest.fixture(scope="module")
def index() -> TaskIndex:
    return discover()


@pytest.mark.parametrize("base", ["cons_*,!cons_cex*", "@householdbench+@policy", "behaviorbench/game_*,@labor"])
def test_selections(base: str, index: TaskIndex) -> None:
    rng, made, names = random.Random(base), 0, {entry.name for entry in index.entries}
    for _ in range(INPUTS):
        text = words(rng, base)
        try:
            chosen = index.select(text)
        except SelectionError:
            continue
        made += 1
        found = [entry.name for entry in chosen]
        assert found == sorted(set(found))
        assert found
        assert names >= set(found)
    assert made > INPUTS // 100
