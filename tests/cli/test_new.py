from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.cli.scaffold import fill
from hbench.spec import check_paths
from tests.docs.blocks import Block, Shell

pytest.importorskip("hatchling")


def test_a_place_without_a_value_is_a_fault() -> None:
    assert fill("a <<b>> << c {{ d }}", {"b": "x"}) == "a x << c {{ d }}"
    with pytest.raises(KeyError, match="b"):
        fill("<<b>>", {})


def test_a_new_suite_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "projects" / "time-use"
    assert main(["new", "suite", "time-use", "--dir", str(folder), "--title", 'A "diary"']) == 0
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in written if "<<" in path.read_text()]
    assert (folder / "hbench_time_use" / "data" / "survey.csv").is_file()
    assert {path.name for path in written} >= {"pyproject.toml", "README.md", ".gitignore", "test_conformance.py"}
    kinds = [task.kind for *_, task, faults in check_paths([folder]) if not faults and task is not None]
    assert sorted(kinds) == ["categorical", "numeric", "probability"]
    # What is there is never written over.
    assert main(["new", "suite", "time-use", "--dir", str(folder)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["new", "suite", "9lives"]) == 2


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["--kind", "numeric", "--column", "hours", "--unit", "hours per week"], "numeric"),
        (["--kind", "categorical", "--column", "sport", "--labels", "never, sometimes,often"], "categorical"),
        (["--kind", "probability", "--column", "works", "--labels", "no,yes"], "probability"),
    ],
)
@pytest.mark.parametrize("shared", [True, False])
def test_a_new_task_joins_a_suite(tmp_path: Path, words: list[str], kind: str, shared: bool) -> None:
    folder = tmp_path / "leisure"
    assert main(["new", "suite", "leisure", "--dir", str(folder)]) == 0
    tasks = folder / "hbench_leisure" / "tasks"
    if not shared:
        # A suite whose tasks stand alone: the new one takes over the keys of the first.
        (tasks / "sport_next_year.yaml").unlink()
        (tasks / "works_next_year.yaml").unlink()
        first = tasks / "hours_next_year.yaml"
        panel = (tasks / "_panel.yaml").read_text()
        first.write_text(first.read_text().replace("include: [_panel.yaml]\n", panel))
        (tasks / "_panel.yaml").unlink()
    assert main(["new", "task", str(folder), "extra", *words]) == 0
    (found,) = [task for *_, task, faults in check_paths([tasks / "extra.yaml"]) if not faults]
    assert found is not None
    assert (found.kind, found.source, found.key.time) == (kind, "leisure", "year")
    assert found.split is not None
    assert main(["new", "task", str(folder), "extra", *words]) == 2


def test_a_new_task_needs_labels_and_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "suite", "leisure", "--dir", str(tmp_path / "leisure")]) == 0
    assert main(["new", "task", str(tmp_path / "leisure"), "extra", "--kind", "categorical"]) == 2
    assert "--labels" in capsys.readouterr().err
    assert main(["new", "task", str(tmp_path), "extra", "--kind", "numeric"]) == 2
    assert "no page of a suite" in capsys.readouterr().err


@pytest.mark.slow
def test_a_new_suite_installs_passes_and_goes(tmp_path: Path) -> None:
    """It runs at once; its own tests pass; and when it goes, nothing else goes with it."""
    shell = Shell(tmp_path)

    def say(text: str) -> str:
        return shell.run(Block("bash", None, text, 0))

    before = json.loads(say("hbench ls suites --json"))
    say("hbench new suite leisure\npip install -e leisure")
    scores = say("hbench eval --tasks '@leisure' --model no_change --model marginal --model linear --plain --out run")
    assert scores.count("relmae") >= 3
    assert "data: package" in scores
    assert "FAILED" not in say("hbench check suite leisure")
    assert "passed" in say(f"cd leisure && {shell.bin / 'python'} -m pytest -q -p no:cacheprovider -n0")
    assert "synthetic" in say("hbench eval --tasks '@leisure' --data demo --model marginal --plain --out demo")
    listed = {row["name"]: row for row in json.loads(say("hbench ls suites --json"))}
    assert listed.pop("leisure")["from"] == ["hbench-leisure 0.1.0"]
    assert list(listed.values()) == before
    package = shell.folder / "leisure" / "hbench_leisure"
    for name, old, new, check, told in (
        ("source.py", "random.Random(seed)", "random.Random()", "sources", "is not deterministic"),
        ("plugin.py", "hbench_api = 1", "import polars\nhbench_api = 1", "imports", "registering imports"),
    ):
        file = package / name
        sound = file.read_text()
        file.write_text(sound.replace(old, new))
        assert told in say(f"! hbench check suite leisure --only {check}")
        file.write_text(sound)
    source = package / "source.py"
    source.write_text(
        source.read_text().replace("        content = ", "        held = b'x' * 800_000_000\n        content = ")
    )
    assert "512 MiB are allowed" in say("! hbench check suite leisure --only sources")
    manifest = json.loads((shell.folder / "run" / "manifest.json").read_text())
    assert "hbench-leisure" in json.dumps(manifest)
    say("pip uninstall hbench-leisure")
    assert json.loads(say("hbench ls suites --json")) == before
