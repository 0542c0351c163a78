from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.testing.mock_server import MockServer

HEAVY = {
    "aiohttp",
    "datasets",
    "lm_eval",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
    "torch",
    "xgboost",
}
TASK = """
task: spend
suite: toy
topic: consumption
source: none
key: {id: id}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array}
metrics: [relmae]
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "spend.yaml").write_text(TASK)
    (tmp_path / "data").mkdir()
    rows = [
        {"id": f"r{i}", "user": f"Case {i}: how much?", "assistant": f"[{i}]", "naive_baseline": f"[{i + 1}]"}
        for i in range(20)
    ]
    (tmp_path / "data" / "spend.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["eval", "--tasks", "spend", "--data", "data", "--include-path", "tasks"]


def run_of(output: str) -> str:
    return output.rstrip().splitlines()[-1].removeprefix("Run: ")


def test_it_ends_with_the_leaderboard_and_the_run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--model", "no_change"]) == 0
    shown = capsys.readouterr()
    assert "relmae" in shown.out
    assert "1.0000" in shown.out
    path = run_of(shown.out)
    assert Path(path, "scores.json").is_file()
    assert "20 new answers" in shown.err
    assert main(["rescore", path]) == 0
    assert capsys.readouterr().out == shown.out
    for form in ("text", "md", "csv", "json"):
        assert main(["report", path, "--format", form]) == 0
        assert "relmae" in capsys.readouterr().out
    assert main(["show", path]) == 0
    assert "no_change: 20 answers" in capsys.readouterr().out
    assert main(["show", path, "--record", "3"]) == 0
    assert "read as 3.0" in capsys.readouterr().out


def test_too_many_invalid_answers_exit_with_1(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with MockServer(answer=["[3]", "no idea"]) as server:
        model = f"openai:m,base_url={server.url}"
        assert main([*words, "--model", model, "--max-invalid", "0.6"]) == 0
        assert main([*words, "--model", model, "--max-invalid", "0.4"]) == 1
    shown = capsys.readouterr()
    assert "50.0% of the answers are invalid" in shown.err
    assert "10 invalid, expected_json_array" in shown.out


def test_failed_requests_are_asked_again_by_the_same_command(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with MockServer(answer="[3]", schedule=["400"] * 4) as server:
        model = f"openai:m,base_url={server.url},concurrency=1"
        assert main([*words, "--model", model, "--limit", "6"]) == 0
        shown = capsys.readouterr()
        assert "openai:m: 4 requests failed: 4 http_400; the same command asks for them again." in shown.err
        assert "4 invalid, http_400" in shown.out
        assert main([*words, "--model", model, "--limit", "6"]) == 0
    shown = capsys.readouterr()
    assert "openai:m: 4 new answers" in shown.err
    assert "invalid, " not in shown.out


def test_nothing_that_can_be_done_exits_with_1(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("nothing").mkdir()
    assert main([*words, "--model", "replay:nothing"]) == 1
    shown = capsys.readouterr()
    assert "toy/spend is not for replay:nothing: nothing holds no spend.jsonl" in shown.out
    assert "no scores" in shown.err


def test_a_model_that_gives_up_exits_with_1_and_keeps_its_answers(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with MockServer(answer="[3]", key="right") as server:
        code = main([*words, "--model", f"openai:m,base_url={server.url}", "--model", "no_change"])
    shown = capsys.readouterr()
    assert code == 1
    assert "gave up" in shown.err
    assert "no_change" in shown.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--model", "no_chance"], "no_change"),
        (["--model", "no_change,speed=3"], "no option 'speed'"),
        (["--model", "no_change", "--data", "hbu"], "neither a data kind nor an existing folder"),
        (["--model", "no_change", "--split", "post"], "nothing to evaluate"),
        (["--model", "no_change", "--no-plugin", "nonesuch"], "no plugin called"),
        (["--model", "no_change", "--limit", "0"], "--limit"),
    ],
)
def test_mistakes_are_one_message_and_exit_with_2(
    words: list[str], more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *more]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "Traceback" not in shown.err
    assert not Path("runs").exists()


def test_a_misspelt_task_names_the_nearest(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words[words.index("spend")] = "spned"
    assert main([*words, "--model", "no_change"]) == 2
    assert "spend" in capsys.readouterr().err


def test_all_absent_tasks_are_told_at_once_and_may_be_left_out(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rent", "save"):
        Path("tasks", f"{name}.yaml").write_text(TASK.replace("task: spend", f"task: {name}"))
    words[words.index("spend")] = "@toy"
    words += ["--model", "no_change"]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "there are no data of 2 of the 3 tasks" in error
    assert "data: the folder does not hold this task: toy/rent, toy/save" in error
    assert "To go on with the other 1: --skip-absent" in error
    assert main([*words, "--skip-absent"]) == 0
    shown = capsys.readouterr().out
    assert "left out, the folder does not hold this task: toy/rent, toy/save" in shown
    run = run_of(shown)
    for command in (["rescore", run], ["report", run], ["report", run, "--format", "json"], ["show", run]):
        assert main(command) == 0
        assert "toy/rent" in capsys.readouterr().out
    assert main([*words, "--skip-absent", "--dry-run"]) == 0
    assert "left out, the folder does not hold this task: toy/rent" in capsys.readouterr().out
    # Nothing at all is an error with it, too; and what could be made says how.
    words[words.index("@toy")] = "@toy,!spend"
    assert main([*words, "--skip-absent"]) == 2
    assert "2 of the 2 tasks" in capsys.readouterr().err
    words[words.index("data")] = "build"
    assert main(words) == 2
    assert "hbench data build toy/rent,toy/save --raw" in capsys.readouterr().err


def test_a_dry_run_asks_nothing(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--model", "no_change", "--dry-run"]) == 0
    assert "20 requests" in capsys.readouterr().out
    assert not Path("runs").exists()


def test_reporting_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "not the folder of a run" in capsys.readouterr().err


def test_evaluating_stored_records_imports_nothing_heavy(words: list[str]) -> None:
    program = f"""
import sys
from hbench.cli.main import main
main({[*words, "--model", "no_change"]!r})
sys.exit(", ".join(sorted({HEAVY!r} & set(sys.modules))) or None)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
