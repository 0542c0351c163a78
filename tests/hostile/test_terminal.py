"""Prompts, answers, labels and errors that would command a terminal, through every command that prints any."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from hbench.cli.main import COMMANDS
from hbench.core.legible import json_text, legible, visible
from hbench.report.analyses import ANALYSES
from hbench.testing import MockServer

from .conftest import ATTACK, ESCAPES, SEEN, Hbench, is_clean

CLI = Path(__file__).resolve().parents[2] / "hbench" / "cli"


def answer(question: Any) -> dict[str, str]:
    """Answer so that some can be read, some cannot, and all of them attack."""
    number = len(question.prompt) % 3
    text = ["[3]", f"[3] {ATTACK}", f'["{"".join(ESCAPES.values())}"]'][number]
    return {"role": "assistant", "content": text, "reasoning_content": ATTACK}


@pytest.fixture
def run(hbench: Hbench, suite: Path) -> Path:
    words = ["eval", "--tasks", "evil/*", "--data", "data", "--include-path", "evil", "--out", "run", "--draws", "2"]
    with MockServer(answer) as server:
        label = json.dumps(f"{ATTACK} x")
        done = hbench(
            *words,
            "--model",
            f"openai:m,base_url={server.url},label={label}",
            "--model",
            f"openai:{SEEN!r},base_url={server.url},attempts=1",
        )
    assert done.code == 0, done.err
    assert "Run: run" in done.out
    return suite.parent / "run"


def test_an_evaluation_and_all_that_shows_it(hbench: Hbench, run: Path) -> None:
    for words in (["rescore", "run"], ["show", "run"], ["report", "run", "--stored"]):
        assert hbench(*words).code == 0
    for task in ("spend", "mood"):
        shown = hbench("show", "run", "--record", "2", "--task", task)
        assert shown.code == 0
        assert "\\x1b[2J\\x1b[H" in shown.out
        assert hbench("show", "run", "--record", "2", "--prompt", "--task", task).code == 0
    assert hbench("show", "run", "--record", "99").code == 2
    assert hbench("show", "run", "--record", "1", "--model", ATTACK.replace("\0", "")).code == 2


def test_reports_and_queries_in_every_format(hbench: Hbench, run: Path) -> None:
    for form in ("terminal", "text", "md", "csv", "json", "latex"):
        done = hbench("report", "run", "--format", form, "--draws-bootstrap", "20")
        assert done.code == 0, done.err
        assert "evil" in done.out
    assert {row["model"] for row in json.loads(hbench("report", "run", "--format", "json").out)["rows"]} >= {
        f"{ATTACK} x"
    }
    odd = "".join(ESCAPES.values()).replace("\0", "")
    for form in ("text", "md", "csv", "json", "latex"):
        for table in ("predictions", "answers", "records", "scores"):
            done = hbench("query", "run", f"select * from {table}", "--format", form)
            assert done.code == 0, done.err
            assert form != "json" or json.loads(done.out)["rows"]
        assert hbench("query", "run", f'select model as "{odd}" from scores', "--format", form).code == 0
    assert hbench("query", "run", f"select '{odd}' from nowhere").code == 2


@pytest.mark.slow
def test_analyses_and_figures(hbench: Hbench, run: Path) -> None:
    for name in ANALYSES:
        hbench("report", "run", "--analysis", name, "--draws-bootstrap", "20")
    done = hbench("report", "run", "--plots", "figures", "--draws-bootstrap", "20")
    assert done.code == 0, done.err
    drawn = sorted(Path("figures").iterdir())
    assert len(drawn) > 4
    for path in drawn:
        assert path.name.isprintable()
        if path.suffix == ".svg":
            # A control sign would be no XML, and a tag would be one.
            tags = {
                element.tag.rpartition("}")[2]
                for element in ElementTree.fromstring(path.read_text(encoding="utf-8")).iter()
            }
            assert "text" in tags
            assert "script" not in tags


def test_scores_of_files(hbench: Hbench, suite: Path) -> None:
    lines = [json.dumps({"id": f"r{i}{ATTACK}", "prediction": ATTACK if i % 2 else "[1]"}) for i in range(12)]
    Path("predictions.jsonl").write_text("\n".join(lines))
    words = ["score", "--tasks", "evil/spend", "--records", "data/spend.jsonl", "--predictions", "predictions.jsonl",
             "--include-path", "evil"]  # fmt: skip
    assert hbench(*words).code == 0
    stored = hbench(*words, "--json", "-")
    assert json.loads(stored.out)["num_valid"] == 6


def test_lists_and_tasks(hbench: Hbench, suite: Path) -> None:
    include = ["--include-path", "evil"]
    listed = hbench("ls", "tasks", "evil/*", *include)
    assert "[red]markup[/red]" in listed.out
    assert "a\\x1b[2J\\u202e.yaml:3: the key" in hbench("ls", "tasks", "--include-path", "broken").err
    (task,) = json.loads(hbench("ls", "tasks", "evil/spend", "--json", *include).out)
    assert task["title"] == SEEN
    hbench("ls", "suites", "evil", *include)
    for name in ("spend", "mood"):
        shown = hbench("show", name, *include)
        read = yaml.safe_load(shown.out)
        assert read["task"] == name
        hbench("show", name, "--record", "1", "--data", "data", *include)
        hbench("show", name, "--prompt", "--data", "data", *include)
    assert yaml.safe_load(hbench("show", "spend", *include).out)["title"] == SEEN
    assert hbench("show", SEEN, *include).code == 2
    assert hbench("ls", "models", SEEN).code == 2


def test_checks_of_files(hbench: Hbench, suite: Path) -> None:
    assert hbench("validate", "broken").code == 2
    faults = json.loads(hbench("validate", "broken", "--json").out)
    assert any(fault["file"].endswith("a\x1b[2J\u202e.yaml") for fault in faults)
    assert any(f"unknown key {SEEN!r}" in fault["message"] for fault in faults)
    hbench("check", "suite", "evil", "--include-path", "evil", "--data", "data")
    hbench("check", "suite", "evil", "--include-path", "evil", "--data", "data", "--json")


def test_data(hbench: Hbench, suite: Path) -> None:
    include = ["--include-path", "evil"]
    hbench("data", "status", "evil/*", *include)
    hbench("data", "status", "evil/*", "--json", *include)
    hbench("data", "build", "evil/*", *include)
    hbench("data", "demo", "evil/*", *include)
    assert hbench("data", "export", "evil/*", "--data", "data", "--out", "out", "--format", "jsonl", *include).code == 0


def test_words_of_the_user_come_back_harmless(hbench: Hbench, suite: Path) -> None:
    for words in (
        [SEEN],
        ["ls", SEEN],
        ["eval", "--tasks", SEEN, "--model", "no_change"],
        ["eval", "--tasks", "evil/spend", "--include-path", "evil", "--data", "data", "--model", SEEN],
        ["eval", "--tasks", "evil/spend", "--include-path", "evil", "--data", SEEN, "--model", "no_change"],
        ["report", SEEN],
        ["data", "build", SEEN],
        ["check", "suite", SEEN],
    ):
        assert hbench(*words).code != 0, words
    hbench("doctor", "--model", f"openai:{SEEN}")


def test_a_server_that_complains_in_escapes(hbench: Hbench, suite: Path) -> None:
    """The message of a refusal is the server's own text, and ends the model's turn."""
    with MockServer(key="another") as server:
        done = hbench("eval", "--tasks", "evil/spend", "--data", "data", "--include-path", "evil", "--model",
                      f"openai:m,base_url={server.url},label={json.dumps(ATTACK)}")  # fmt: skip
    assert done.code == 1
    assert "gave up" in done.err


def test_everything_that_is_printed_is_made_legible() -> None:
    """A command that printed by itself would print as it comes."""
    allowed = {
        "terminal.py": {"click.echo"},
        "main.py": {"click.echo"},  # the error's last words, made legible there, since help imports nothing more
        "table.py": {"Console"},  # cells are made visible
        "eval.py": {"Console"},  # `show` makes cells visible
        "report.py": {"Console"},
    }
    for path in CLI.glob("*.py"):
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        printing = {
            name for name in calls if name in ("print", "click.echo", "click.secho", "Console", "sys.stdout.write")
        }
        assert printing <= allowed.get(path.name, set()), path.name
    assert set(COMMANDS)


@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES)
def test_each_attack_is_written_out(text: str) -> None:
    assert not is_clean(text)
    assert is_clean(legible(text))
    assert visible(text).isprintable()
    assert is_clean(json_text({text: [text]}))
    assert json.loads(json_text({text: [text]})) == {text: [text]}


def test_what_people_write_stays_as_it_is() -> None:
    for text in (
        "Ça coûte 12 €",
        "价格：十二元",
        "שלום",
        "مرحبا",
        "naïve — “quoted” … ½",
        "👩‍👩‍👧".replace("\u200d", ""),
    ):
        assert visible(text) == text
    assert legible("two\nlines\tand a tab") == "two\nlines\tand a tab"
    assert visible("a\u00a0b\u3000c") == "a b c"
