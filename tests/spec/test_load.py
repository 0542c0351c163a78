from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import SpecError
from hbench.spec import discover, load_suite, load_task, validate_paths

from .conftest import Write


def test_a_task(write: Write, task_text: str) -> None:
    task = load_task(write("spend.yaml", task_text))
    assert task.name == "tiny/spend"
    assert task.metrics[0].metric == "relmae"


def test_the_suites_page_names_the_suite(suite: Path, write: Write, task_text: str) -> None:
    path = write("deeper/more.yaml", task_text.replace("suite: tiny\n", "").replace("spend\n", "more\n"))
    assert load_task(path).name == "tiny/more"


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "hint"),
    [
        ("topic: money", "topik: money", 3, "unknown key 'topik'", "'topic'"),
        ("topic: money", "", 1, "the key 'topic' is missing", None),
        ("kind: numeric", "kind: numerc", 7, "'numerc' is not a valid word", "'numeric'"),
        ("kind: numeric", "knd: numeric", 7, "unknown key 'knd'", "'kind'"),
        ("no_change: spending_lag1", "labels: 3", 7, "expected a list, got 3", None),
        ("{parser: json_array}", "{parser: json_array, round: whole}", 10, "`answer.round`", None),
        (
            "{parser: json_array}",
            "{parser: json_array, round: intger}",
            10,
            "'intger' is not a valid word",
            "'integer'",
        ),
        ("{parser: json_array}", "{parser: json_array, agregate: mean}", 10, "unknown key 'agregate'", "'aggregate'"),
        ("{parser: json_array}", "{parser: [json_array]}", 10, "expected text, got ['json_array']", None),
        ("source: survey", "source: {fil: x.csv}", 4, "unknown key 'fil'", "'file'"),
        ("source: survey", "source: true", 4, "expected text, got a truth value", "Quote it"),
        ("task: spend", "task: 'sp end'", 1, "'sp end' is not a valid name", None),
        ("task: spend", "task: ../../spend", 1, "is not a valid name", None),
        ("metrics: [relmae]", "metrics: [{metric: relmae, levl: x}]", 11, "unknown key 'levl'", "'level'"),
        ("metrics: [relmae]", "metrics: []", 11, "`metrics`", None),
        ("metrics: [relmae]", "metrics: [{metric: mae, target: income}]", 1, "names the target 'income'", None),
        ("  paragraphs: [How", "  template: x.md\n  paragraphs: [How", 8, "either `paragraphs` or a `template`", None),
    ],
)
def test_a_mistake_has_a_line_and_the_nearest_word(
    write: Write, task_text: str, old: str, new: str, line: int, message: str, hint: str | None
) -> None:
    path = write("spend.yaml", task_text.replace(old, new))
    with pytest.raises(SpecError) as caught:
        load_task(path)
    assert message in caught.value.message
    assert caught.value.file == str(path)
    assert caught.value.line == line
    assert hint is None or hint in (caught.value.hint or "")


def test_all_mistakes_are_told_at_once(write: Write, task_text: str) -> None:
    text = task_text.replace("topic", "topik").replace("numeric", "numerc").replace("metrics", "metrcs")
    path = write("spend.yaml", text)
    with pytest.raises(SpecError) as caught:
        load_task(path)
    told = str(caught.value)
    for line in (3, 7, 11):
        assert f"spend.yaml:{line}: " in told
    for word in ("'topic'", "'kind'", "'numeric'", "'metrics'"):
        assert word in told or word == "'kind'"
    faults = validate_paths([path])
    assert [fault.line for fault in faults] == sorted(fault.line or 0 for fault in faults)
    assert len(faults) >= 3


@pytest.mark.parametrize("key", ["str", "FileSource", "list[int]", "a[0]", "\\e[2J", "[", ""])
def test_an_unknown_key_may_be_called_anything(write: Write, task_text: str, key: str) -> None:
    """Also as the names of alternatives are that a fault's place may hold."""
    path = write("spend.yaml", task_text.replace("metrics:", "metriks:") + f'"{key}": 1\n')
    with pytest.raises(SpecError) as caught:
        load_task(path)
    assert "unknown key 'metriks'" in str(caught.value)
    assert f"unknown key {key.replace(chr(92) + 'e', chr(27))!r}" in str(caught.value)


def test_a_mistake_in_an_included_file_is_found_there(write: Write, task_text: str) -> None:
    write("_shared.yaml", "# shared\nanswer:\n  parser: json_array\n  clipp: true\n")
    path = write("spend.yaml", "include: _shared.yaml\n" + task_text.replace("answer: {parser: json_array}\n", ""))
    with pytest.raises(SpecError, match=r"_shared.yaml:4: .*unknown key 'clipp'"):
        load_task(path)


def test_an_import_path_is_no_name_of_a_component(write: Write, task_text: str) -> None:
    """Well formed, but nobody registers it: YAML cannot make hbench import anything."""
    from hbench.core import PluginError
    from hbench.plugin import default_registry

    task = load_task(write("spend.yaml", task_text.replace("source: survey", "source: 'os:system'")))
    with pytest.raises(PluginError, match="there is no source called 'os:system'"):
        default_registry().get("source", str(task.source), suite=task.suite)


def test_suite_pages(suite: Path, write: Write) -> None:
    assert load_suite(suite, "tiny").title == "A tiny suite"
    assert load_suite(suite, "other").title == "other"
    assert load_suite(discover([suite]), "tiny").title == "A tiny suite"
    assert load_suite(discover([suite]), "nobody").title == "nobody"
    write("_suite.yaml", "suite: tiny\ntitel: A tiny suite\n")
    with pytest.raises(SpecError, match=r"_suite.yaml:2: .*unknown key 'titel'"):
        load_suite(suite, "tiny")


def test_every_shipped_task_is_well_formed() -> None:
    entries = discover().entries
    assert len(entries) > 30
    for entry in entries:
        task = entry.load()
        assert (task.name, task.topic, task.mode) == (entry.name, entry.topic, entry.mode)
        assert tuple(target.name for target in task.targets) == entry.targets
        assert {target.kind for target in task.targets} == set(entry.kinds)


@pytest.mark.parametrize("table", ["/etc/people.csv", "../people.csv", "tables/../../people.csv", "link/people.csv"])
def test_a_table_from_outside_of_the_suite_is_refused(suite: Path, write: Write, task_text: str, table: str) -> None:
    (suite / "link").symlink_to(suite.parent)
    path = write("spend.yaml", task_text.replace("source: survey", f"source: {{file: {table}}}"))
    with pytest.raises(SpecError, match="leaves the suite's folder") as caught:
        load_task(path)
    assert (caught.value.file, caught.value.line) == (str(path), 4)
    assert str(suite) in str(caught.value.hint)
    with pytest.raises(SpecError, match="leaves the suite's folder"):
        discover([suite]).get("tiny/spend").load()


def test_tables_lie_anywhere_below_the_folder_that_the_user_names(tmp_path: Path, task_text: str) -> None:
    tasks = tmp_path / "study" / "tasks"
    tasks.mkdir(parents=True)
    for name, table in (("one", "../people.csv"), ("two", tmp_path / "study" / "people.csv"), ("three", "people.csv")):
        text = task_text.replace("spend", name, 1).replace("source: survey", f"source: {{file: {table}}}")
        (tasks / f"{name}.yaml").write_text(text)
    assert [entry.load().task for entry in discover([tmp_path / "study"]).select("tiny/*")] == ["one", "three", "two"]
    assert not validate_paths([tmp_path / "study"])
    # Of the inner folder alone, the tables of two are outside.
    assert len(validate_paths([tasks])) == 2
    with pytest.raises(SpecError, match="leaves the suite's folder"):
        discover([tasks]).get("one").load()
