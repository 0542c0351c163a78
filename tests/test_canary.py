"""That the canary sings: a test that gives a key away fails, by whatever way it does, and one that does not passes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hbench.cli.doctor import KEYS as DOCTORS
from hbench.cli.doctor_models import PROVIDERS
from tests.canary import KEYS, MARK, leaks

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
import pytest
from tests.canary import _shared_folders, canary, pytest_runtest_makereport

@pytest.fixture(autouse=True)
def _own_store(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HBENCH_CACHE", str(home / "cache"))
    return home
"""
TESTS = """
import logging, os, pathlib, sqlite3, sys
import pytest
from hbench.core import ModelError

KEY = os.environ.get("OPENAI_API_KEY")

def key():
    return os.environ["ANTHROPIC_API_KEY"]

def test_file(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "manifest.json").write_bytes(b"x" * (2**20 - 20) + key().encode())

def test_file_name(tmp_path):
    (tmp_path / key()).write_text("")

def test_database(tmp_path):
    with sqlite3.connect(tmp_path / "journal.sqlite") as connection:
        connection.execute("create table t (x text)")
        connection.execute("insert into t values (?)", [key()])

def test_cache():
    folder = pathlib.Path(os.environ["HBENCH_CACHE"])
    folder.mkdir()
    (folder / "index").write_text(key())

def test_printed():
    print(key())

def test_printed_to_stderr():
    print(key(), file=sys.stderr)

def test_printed_and_read(capsys):
    print(key())
    assert capsys.readouterr().out

def test_logged():
    logging.getLogger("hbench.model.http").debug("asked with %s", key())

def test_logged_elsewhere():
    logging.getLogger("other").error("asked with %s", key())

def test_logged_traceback():
    try:
        raise ValueError(key())
    except ValueError:
        logging.getLogger("other").exception("it fails")

def test_error():
    with pytest.raises(ModelError):
        raise ModelError("the server says no", hint=f"is {key()} the right one?")

def test_clean(tmp_path, capsys):
    assert key() and KEY is None
    (tmp_path / "a").write_text("nothing")
    print("nothing")
    logging.getLogger("hbench").warning("nothing")
    assert capsys.readouterr().out == "nothing\\n"

@pytest.fixture(scope="session")
def together(tmp_path_factory):
    return tmp_path_factory.mktemp("together")

def test_shared_folder(together):
    (together / "a").write_text(key())
"""


def test_keys_are_found_wherever_they_are_left(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_leaks.py").write_text(TESTS)
    clean = {name: value for name, value in os.environ.items() if name not in KEYS}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-rA", "--basetemp=own", "."],
        cwd=tmp_path,
        env={**clean, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts: dict[str, set[str]] = {}
    for verdict, name in re.findall(r"^(PASSED|FAILED|ERROR) test_leaks\.py::(\w+)", done.stdout, re.MULTILINE):
        verdicts.setdefault(name, set()).add(verdict)
    told = set(re.findall(r"^def (test_\w+)", TESTS, re.MULTILINE))
    assert set(verdicts) == told, done.stdout
    assert {name for name, found in verdicts.items() if found == {"PASSED"}} == {"test_clean"}, done.stdout
    assert "files that tests share" in done.stdout
    assert len(leaks(tmp_path / "own")) == 5
    # These were meant; this test's own canary would sing of them.
    shutil.rmtree(tmp_path / "own")


def test_the_keys_are_those_that_back_ends_read() -> None:
    assert set(KEYS) == {*DOCTORS, *(name for names in PROVIDERS.values() for name in names)}
    assert all(value.startswith(MARK) for value in KEYS.values())


def test_the_keys_are_set_in_every_test() -> None:
    assert {name: os.environ[name] for name in KEYS} == KEYS


def test_the_search_reads_across_blocks(tmp_path: Path) -> None:
    for place in range(2**20 - len(MARK), 2**20 + 1):
        (tmp_path / "file").write_bytes(b"x" * place + MARK.encode() + b"y" * 100)
        assert leaks(tmp_path) == [str(tmp_path / "file")]
    (tmp_path / "file").write_bytes(b"x" * 2**20 + MARK[1:].encode())
    assert leaks(tmp_path) == []
