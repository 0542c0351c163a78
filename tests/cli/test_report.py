from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.cli.main import main
from tests.cli.toy_run import toy_run


@pytest.fixture
def run(tmp_path: Path) -> str:
    return toy_run(tmp_path, ["no_change", "marginal:,from=records"], people=20)


def test_the_leaderboard_names_its_choices(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", run, "--draws-bootstrap", "100", "--rows", "common", "--intervals", "percentile"]) == 0
    out = capsys.readouterr().out
    assert "by mean rank over tasks" in out
    assert "rows that are valid for all models shown; 95% percentile intervals from 100 paired resamples" in out


def test_a_file_is_written(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new" / "report.json"
    assert main(["report", run, "--format", "json", "--draws-bootstrap", "100", "-o", str(file)]) == 0
    assert not capsys.readouterr().out
    page = json.loads(file.read_text())
    assert page["format"] == "hbench report"
    assert all(row["se"] is not None for row in page["rows"] if row["target"] is None)


def test_the_same_seed_gives_the_same_report(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for seed in ("1", "1", "2"):
        main(["report", run, "--format", "csv", "--draws-bootstrap", "50", "--seed", seed])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


def test_notes_are_told_beside_a_csv_which_has_rows_only(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["report", run, "--draws-bootstrap", "50", "--seed", "1"]
    assert main([*words, "--format", "json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert main([*words, "--format", "csv"]) == 0
    told = capsys.readouterr()
    assert notes
    assert told.err.splitlines() == notes
    assert notes[0] not in told.out


def test_analyses_by_name(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", run, "--analysis", "list"]) == 0
    assert "gains" in capsys.readouterr().out
    assert main(["report", run, "--analysis", "gains", "--draws-bootstrap", "50"]) == 0
    assert "no_change" in capsys.readouterr().out
    assert main(["report", run, "--analysis", "gians"]) == 2
    assert "gains" in capsys.readouterr().err


def test_options_of_an_analysis(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["report", run, "--draws-bootstrap", "50", "--analysis"]
    assert main([*words, "subgroups", "--set", "fields=age, sex", "--set", "least=5"]) == 0
    assert main([*words, "cutoff", "--set", "sinc=2026"]) == 2
    assert main([*words, "subgroups", "--set", "least=few"]) == 2
    assert "since" in capsys.readouterr().err


def test_stored_scores_need_no_data(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (Path(run).parent / "data").iterdir():
        file.write_text(file.read_text().replace("[3]", "[4]"))
    assert main(["report", run]) == 2
    assert "--stored" in capsys.readouterr().err
    assert main(["report", run, "--stored"]) == 0
    assert "no_change" in capsys.readouterr().out


def test_clusters_that_are_not_there_are_an_error(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", run, "--clusters", "--draws-bootstrap", "50"]) == 2
    assert "have no cluster" in capsys.readouterr().err


def test_an_unknown_rule_names_the_known(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", run, "--rule", "rank", "--draws-bootstrap", "50"]) == 2
    assert "ranks" in capsys.readouterr().err


def test_changed_metrics_are_told(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(run).parent / "tasks" / "spend.yaml"
    page.write_text(page.read_text().replace("[relmae]", "[nmae]"))
    assert main(["report", run, "--draws-bootstrap", "50"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "toy/spend: the metrics have changed since the run was scored (relmae then, nmae now" in said
    assert "--stored" in said
    assert main(["report", run, "--stored"]) == 0
    assert "relmae" in capsys.readouterr().out


def test_a_report_needs_no_network_and_without_the_data_shows_the_stored_scores(
    run: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the report opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert main(["report", run, "--draws-bootstrap", "50"]) == 0
    capsys.readouterr()
    shutil.rmtree(Path(run).parent / "data")
    assert main(["report", run]) == 2
    assert "--stored" in capsys.readouterr().err
    for form in ("text", "json", "csv", "md", "latex"):
        assert main(["report", run, "--stored", "--format", form]) == 0
        assert "relmae" in capsys.readouterr().out.lower()
    # Scores alone are enough.
    for file in Path(run).iterdir():
        if file.name not in ("scores.json", "manifest.json"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    assert main(["report", run, "--stored"]) == 0
