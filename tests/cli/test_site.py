from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hbench.cli.main import main
from tests.cli.toy_run import toy_run


@pytest.fixture
def run(tmp_path: Path) -> str:
    return toy_run(tmp_path, ["no_change", "marginal:,from=records"], people=20)


def test_one_command_makes_the_site_and_names_the_one_that_shows_it(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    assert main(["report", run, "--html", str(site), "--draws-bootstrap", "50", "--title", "Toys & co"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"See it with: hbench view {site}\n")
    assert "<title>Toys &amp; co</title>" in (site / "index.html").read_text()
    assert (site / "records" / "catalogue.json.gz").is_file()
    assert main(["report", run, "--html", str(site), "--draws-bootstrap", "50", "--no-records"]) == 0
    assert not (site / "records").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--ess", "FILE"], "--ess is for --html"),
        (["--html", "site", "--stored"], "it has no --stored"),
        (["--html", "site", "--analysis", "gains"], "it has no --stored, --plots, --analysis"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    (tmp_path / "ess.json").write_text("{}")
    asked = [str(tmp_path / "ess.json") if word == "FILE" else word for word in options]
    assert main(["report", run, *asked]) == 2
    assert told in capsys.readouterr().err


def test_only_a_site_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path), "--port", "0"]) == 2
    assert "hbench report RUN... --html DIR" in capsys.readouterr().err


def test_where_no_site_can_be_is_told_before_any_work(
    run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    for place, told in (
        ("file/site", "File exists\n  Name another place."),
        ("link", "this is a link or a file\n  Give"),
    ):
        assert main(["report", run, "--html", str(tmp_path / place)]) == 2
        captured = capsys.readouterr()
        assert told in captured.err
        assert captured.out == ""
        assert "gains" not in captured.err
    assert (tmp_path / "file").read_text() == "mine"


def test_the_command_that_shows_it_can_be_pasted(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = tmp_path / "Ann's site"
    assert main(["report", run, "--html", str(site), "--draws-bootstrap", "50", "--no-records"]) == 0
    shown = capsys.readouterr().out.partition("See it with: ")[2]
    assert shlex.split(shown) == ["hbench", "view", str(site)]
