from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.core import SelectionError, SpecError
from hbench.spec import TaskIndex, discover

from .conftest import TASK, Write

HEAVY = ("numpy", "pydantic", "pandas", "polars", "torch", "hbench_behaviorbench", "hbench_householdbench")


def own(index: TaskIndex) -> list[str]:
    """Leave out installed suites."""
    return [entry.name for entry in index.entries if not entry.distribution]


def age(folder: Path, seconds: float = 60) -> None:
    """Make files old enough for their stamps to prove something."""
    for path in folder.rglob("*.yaml"):
        status = path.stat()
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - int(seconds * 1e9)))


def test_include_path_and_variable(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own(discover([suite])) == ["tiny/save", "tiny/spend"]
    assert own(discover()) == []
    monkeypatch.setenv("HBENCH_TASK_PATH", f"{suite}{os.pathsep}")
    assert own(discover()) == ["tiny/save", "tiny/spend"]
    # The same folder twice, or one inside the other, is no clash.
    assert not discover([suite, suite.parent]).clashes


def test_a_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SelectionError, match="there is no folder"):
        discover([tmp_path / "nowhere"])
    monkeypatch.setenv("HBENCH_TASK_PATH", str(tmp_path / "nowhere"))
    with pytest.raises(SelectionError, match="HBENCH_TASK_PATH"):
        discover()


def test_what_is_no_task(suite: Path, write: Write) -> None:
    write("_draft.yaml", TASK.format(name="draft", suite="tiny"))
    write(".hidden/a.yaml", "a: [")
    write("notes.txt", "not YAML")
    assert own(discover([suite])) == ["tiny/save", "tiny/spend"]
    assert not discover([suite]).broken


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("task: [bad\n", 2, "broken YAML"),
        ("a: 1\n", None, "the key 'task' is missing"),
        ("", None, "empty"),
        ("include: nowhere.yaml\ntask: bad\n", 1, "there is no file"),
        ("task: bad\nsuite: tiny\ntopic: x\ntargets: 3\n", 4, "expected a list"),
        ("task: {a: b}\nsuite: tiny\n", 1, "expected text"),
    ],
)
def test_a_broken_file_hides_no_other(suite: Path, write: Write, text: str, line: int | None, message: str) -> None:
    path = write("bad.yaml", text)
    index = discover([suite])
    assert own(index) == ["tiny/save", "tiny/spend"]
    (broken,) = index.broken
    assert (broken.path, broken.name, broken.line) == (path, "tiny/bad", line)
    assert message in broken.problem
    assert [entry.name for entry in index.select("spend")] == ["tiny/spend"]
    for use in (lambda: index.get("bad"), lambda: index.select("tiny/*"), lambda: index.select("@tiny")):
        with pytest.raises(SpecError, match=message):
            use()
    assert len(index.select("@tiny,!bad")) == 2


def test_mending_what_was_missing_is_noticed(suite: Path, write: Write) -> None:
    write("late.yaml", "include: _late.yaml\n" + TASK.format(name="late", suite="tiny").replace("topic: money\n", ""))
    age(suite)
    assert len(discover([suite]).broken) == 1
    write("_late.yaml", "topic: late\n")
    assert discover([suite]).get("late").topic == "late"


def test_two_files_of_one_name_are_an_error_for_both(suite: Path, write: Write) -> None:
    write("again/spend.yaml", TASK.format(name="spend", suite="tiny"))
    index = discover([suite])
    assert len(index.clashes["tiny/spend"]) == 2
    for use in (lambda: index.get("spend"), lambda: index.get("tiny/spend"), lambda: index.select("s*")):
        with pytest.raises(SelectionError, match="several files claim the task 'tiny/spend'") as caught:
            use()
        assert str(suite / "again" / "spend.yaml") in str(caught.value)
    assert index.get("save").name == "tiny/save"


def test_one_bare_name_in_two_suites(suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "spend.yaml").write_text(TASK.format(name="spend", suite="second"))
    index = discover([suite, other])
    assert {"tiny/spend", "second/spend"} <= set(own(index))
    assert index.get("second/spend").suite == "second"
    with pytest.raises(SelectionError, match="several suites have a task 'spend'") as caught:
        index.get("spend")
    assert "tiny/spend" in str(caught.value)
    assert "second/spend" in str(caught.value)
    with pytest.raises(SelectionError, match="several suites"):
        index.select("spend")
    assert len(index.select("*/spend")) == 2


def test_a_page_holds_for_the_folders_below_it(suite: Path, write: Write, task_text: str, tmp_path: Path) -> None:
    """Files need not name their suite, whichever folder above or within it the user names."""
    write("_shared.yaml", "topic: shared\n")
    text = task_text.replace("suite: tiny\n", "").replace("topic: money\n", "include: ../_shared.yaml\n")
    path = write("part/more.yaml", text.replace("spend\n", "more\n"))
    for named in (suite, suite.parent, path.parent):
        entry = discover([named]).get("more")
        assert (entry.name, entry.topic, entry.root) == ("tiny/more", "shared", suite)
        assert entry.load().name == "tiny/more"
        assert discover([named]).suite("tiny").title == "A tiny suite"


def test_a_folder_without_a_page_is_a_suite_of_its_name(tmp_path: Path, task_text: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "spend.yaml").write_text(task_text.replace("suite: tiny\n", ""))
    age(tmp_path)
    for _ in range(2):  # read, and from the cache
        entry = discover([tmp_path / "mine"]).get("spend")
        assert entry.load().name == entry.name == "mine/spend"


def test_a_broken_page_hides_no_task(suite: Path, write: Write) -> None:
    write("_suite.yaml", "suite: [")
    assert own(discover([suite])) == ["tiny/save", "tiny/spend"]


def test_a_fault_in_what_the_index_does_not_show_is_told(suite: Path, write: Write, task_text: str) -> None:
    write("bad.yaml", task_text.replace("spend\n", "bad\n").replace("{parser: json_array}", "{parser: ["))
    index = discover([suite])
    assert [(file.name, file.line) for file in index.broken] == [("tiny/bad", 12)]
    with pytest.raises(SpecError, match="broken YAML"):
        index.get("bad")


def test_changes_are_noticed(suite: Path, write: Write) -> None:
    write("_shared.yaml", "topic: first\n")
    path = write(
        "spend.yaml", "include: _shared.yaml\n" + TASK.format(name="spend", suite="tiny").replace("topic: money\n", "")
    )
    age(suite)
    assert discover([suite]).get("spend").topic == "first"
    assert discover([suite]).get("spend").topic == "first"
    write("_shared.yaml", "topic: other\n")
    assert discover([suite]).get("spend").topic == "other"
    path.unlink()
    assert own(discover([suite])) == ["tiny/save"]


def test_a_change_of_equal_size_and_time_is_noticed(suite: Path, write: Write) -> None:
    """Right after writing, stamps prove nothing: two edits can share one."""
    path = suite / "spend.yaml"
    assert discover([suite]).get("spend").topic == "money"
    stamps = path.stat()
    path.write_text(path.read_text().replace("money", "honey"))
    os.utime(path, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    assert discover([suite]).get("spend").topic == "honey"


def test_the_cache_is_used_and_may_be_anything(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    age(suite)
    first = discover([suite])
    caches = list(Path(os.environ["HBENCH_CACHE"]).rglob("*.json"))
    assert any(json.loads(cache.read_text())["root"] == str(suite) for cache in caches)
    with monkeypatch.context() as patch:
        patch.setattr("hbench.spec.scan.Scan.row", lambda *_: pytest.fail("read again"))
        assert discover([suite]).entries == first.entries
    for content in ("", "[]", "{}", '{"version": 0}'):
        for cache in caches:
            cache.write_text(content)
        assert discover([suite]).entries == first.entries
    monkeypatch.setenv("HBENCH_CACHE", "/dev/null/nowhere")
    assert discover([suite]).entries == first.entries


def test_the_choice_of_plugins_holds_for_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"behaviorbench", "householdbench"} <= set(discover().suites())
    assert "behaviorbench" not in discover(environ={**os.environ, "HBENCH_NO_PLUGINS": "behaviorbench"}).suites()
    assert discover(environ={**os.environ, "HBENCH_PLUGINS": "householdbench"}).suites() == ["householdbench"]


def test_listing_imports_no_plugin_and_nothing_heavy() -> None:
    code = "import sys; from hbench.spec import discover; discover(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(HEAVY)
