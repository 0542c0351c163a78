"""Every check of the kit finds what is planted for it, and says so."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from hbench.cli.main import main
from hbench.core import Aligned, AnswerSpec, Completion, Failure, Parsed, SelectionError, Values
from hbench.data import Store
from hbench.model.families import Family
from hbench.plugin import ComponentInfo, Registry, Scope
from hbench.plugin.builtin import hbench_register
from hbench.testing import CHECKS, SuiteUnderTest, Verdict, check_suite
from hbench.testing.spec_checks import misfit

TASK: dict[str, Any] = {
    "task": "spending",
    "suite": "planted",
    "topic": "money",
    "source": {"file": "people.csv"},
    "key": {"id": "person", "time": "year"},
    "targets": [{"name": "total", "kind": "numeric", "no_change": "total_lag1"}],
    "predictors": [
        {"names": ["age"]},
        {"names": ["income"], "required": False},
        {"names": ["sex"], "kind": "categorical"},
        {"names": ["total"], "lags": 1, "current": False},
    ],
    "sample": [
        {"lags": {"columns": ["total"], "depth": 1, "step": 1}},
        {"require": ["targets", "total_lag1"]},
    ],
    "split": {"unit": "period", "column": "year", "test": [2024]},
    "prompt": {
        "paragraphs": [
            ["You are {{ age | number }} years old.", "Your income is {{ income | dollars }}."],
            "You spent {{ total_lag1 | dollars }} last year. What do you spend? [v_1]",
        ]
    },
    "answer": {"parser": "json_array", "round": 2},
    "metrics": ["relmae", "mae"],
}


class Raising:
    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        return Parsed((float(str(completion.text)),))

    def render(self, values: Values, answer: AnswerSpec) -> str:
        return str(values[0])


class Unfaithful(Raising):
    """Writes whole numbers for answers that are none."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        try:
            return Parsed((float(str(completion.text)) + 1,))
        except ValueError:
            return Failure("parse", "no_number")


class FirstRow:
    """Depends on the order of rows."""

    name, better, invalid, kinds = "first_row", "lower", "exclude", frozenset({"numeric"})

    def rows(self, aligned: Aligned) -> np.ndarray:
        rows = np.column_stack([np.abs(aligned.pred - aligned.gold), aligned.valid])
        rows[~aligned.valid] = 0
        return rows * (np.arange(len(aligned)) < len(aligned) / 2)[:, None]

    def reduce(self, sums: np.ndarray) -> np.ndarray:
        return sums[..., 0] / sums[..., 1]


class Upside(FirstRow):
    """An error of which it says that more is better."""

    better = "higher"

    def rows(self, aligned: Aligned) -> np.ndarray:
        return np.nan_to_num(np.column_stack([np.abs(aligned.pred - aligned.gold), aligned.valid]))


class FromOne(Upside):
    """An error of which it says that one is best."""

    better = "one"


class Sideways(FirstRow):
    """Misspells which scores are better."""

    better = "hihger"


class NoParser:
    pass


def _registry() -> Registry:
    scope = Scope("hbench", "hbench", "0")
    hbench_register(scope)
    own = [
        ("parser", "raising", "Raising"),
        ("parser", "unfaithful", "Unfaithful"),
        ("metric", "first_row", "FirstRow"),
        ("metric", "upside", "Upside"),
        ("metric", "from_one", "FromOne"),
    ]
    brought = [
        ComponentInfo(kind, name, "planted", f"{__name__}:{target}", "planted", "1") for kind, name, target in own
    ]
    return Registry([*scope.components, *brought])


Planted = Callable[..., SuiteUnderTest]


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Write a sound suite with some keys changed, and open it."""

    def write(registry: Registry | None = None, **changes: Any) -> SuiteUnderTest:
        folder = tmp_path / "suite"
        folder.mkdir()
        rng = random.Random(3)
        with (folder / "people.csv").open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["person", "year", "age", "income", "sex", "total", "copy"])
            for person in range(80):
                for year in (2022, 2023, 2024):
                    total = rng.randint(100, 90_000) / 4
                    income = "" if person % 5 == 0 else rng.randint(1, 9) * 1000
                    rows.writerow([person, year, 20 + person % 50, income, "fm"[person % 2], total, total * 2])
        (folder / "spending.yaml").write_text(yaml.safe_dump({**TASK, **changes}, sort_keys=False))
        return SuiteUnderTest(
            "planted", include_paths=[folder], store=Store(tmp_path / "store"), registry=registry or _registry()
        )

    return write


def run(suite: SuiteUnderTest, name: str) -> Verdict:
    (verdict,) = check_suite(suite, only=[name])
    return verdict


def test_a_sound_suite_passes_everything_that_can_be_checked(planted: Planted) -> None:
    verdicts = {verdict.check.name: verdict for verdict in check_suite(planted())}
    assert list(verdicts) == [check.name for check in CHECKS]
    assert not [str(verdict) for verdict in verdicts.values() if verdict.status == "failed"]
    # A YAML-only suite has no source and no plugin, and this one no treatment.
    assert [name for name, verdict in verdicts.items() if verdict.status == "skipped"] == [
        "imports",
        "sources",
        "treatment",
    ]


NO_PAST = {
    "targets": [{"name": "total", "kind": "numeric"}],
    "predictors": [{"names": ["age"]}],
    "metrics": ["mae"],
    "prompt": {"paragraphs": ["You are {{ age }}."]},
}


def prompt(*paragraphs: str) -> dict[str, Any]:
    return {"prompt": {"paragraphs": list(paragraphs)}}


@pytest.mark.parametrize(
    ("check", "changes", "told"),
    [
        ("specs", {"metrics": ["rel_mae"]}, "no metric called 'rel_mae'"),
        ("specs", {"targts": []}, "targts"),
        ("parsers", {"answer": {"parser": "raising"}}, "raises ValueError"),
        ("data", {"sample": [{"require": ["totl"]}]}, "totl"),
        ("data", {"split": {"unit": "period", "column": "year", "test": [1999]}}, "1999"),
        ("data", {"key": {"id": "sex"}, "sample": [], **NO_PAST}, "repeat a key"),
        ("answers", {"answer": {"parser": "unfaithful"}}, "does not survive"),
        ("missing", prompt("You earn {{ income if income is known else 'None' }}."), "the name of a missing value"),
        (
            "missing",
            {**prompt("You are {{ age }}."), "predictors": [{"names": ["age"], "required": False}]},
            "cannot be rendered without age",
        ),
        (
            "leakage",
            prompt("You spent {{ total | dollars }}. What do you spend? [v_1]"),
            "tells the true answer 'total'",
        ),
        (
            "leakage",
            prompt("You are {{ 'rich' if total > 20000 else 'poor' }}. What do you spend? [v_1]"),
            "tells the true answer 'total'",
        ),
        (
            "leakage",
            {"predictors": [{"names": ["copy", "total_lag1"]}]},
            "'copy' tells the true answer 'total': one goes with the other",
        ),
        ("leakage", {"predictors": [{"names": ["total"]}]}, "is the true answer itself"),
        ("treatment", {"treatment": "sex"}, "the prompt is the same for several values of the treatment 'sex'"),
        ("metrics", {"metrics": ["first_row"]}, "depends on the order of the rows"),
        ("metrics", {"metrics": ["upside"]}, "says that higher is better"),
        ("metrics", {"metrics": ["from_one"]}, "says that nearest to 1 is best, and gives 0.0 for the truth"),
    ],
)
def test_what_is_planted_is_found(planted: Planted, check: str, changes: dict[str, Any], told: str) -> None:
    verdict = run(planted(**changes), check)
    assert verdict.status == "failed", verdict
    assert told in str(verdict)


def test_components_are_held_to_their_kind(planted: Planted) -> None:
    infos = [
        ComponentInfo("parser", "none", "planted", f"{__name__}:NoParser", "planted", "1"),
        ComponentInfo("metric", "none", "planted", f"{__name__}:NoParser", "planted", "1"),
        ComponentInfo("metric", "sideways", "planted", f"{__name__}:Sideways", "planted", "1"),
        ComponentInfo("source", "none", "planted", f"{__name__}:NoParser", "planted", "1"),
        ComponentInfo("step", "gone", "planted", f"{__name__}:gone", "planted", "1"),
    ]
    verdict = run(planted(Registry([*_registry().names(), *infos])), "components")
    assert verdict.status == "failed"
    assert len(verdict.faults) == 5
    for told in (
        "hbench.core.Parser",
        "neither a hbench.core.Metric",
        "says better='hihger', which is none of lower, higher, one",
        "lacks build, demo, files",
        "cannot be imported",
    ):
        assert told in str(verdict)


def test_rows_in_two_splits_are_found(planted: Planted) -> None:
    import polars as pl

    suite = planted()
    file = suite.tasks[0].data.path / "split.parquet"
    split = pl.read_parquet(file)
    split.with_columns(split=pl.lit("train")).pipe(lambda other: pl.concat([split, other])).write_parquet(file)
    verdict = run(suite, "splits")
    assert verdict.status == "failed"
    assert "the evaluation sample holds rows of the split 'train'" in str(verdict)
    assert "stand in several splits" in str(verdict)


def test_fixture_rows_stand_in_for_data(planted: Planted, tmp_path: Path) -> None:
    suite = planted(source={"file": "gone.csv"})
    assert run(suite, "answers").status == "skipped"
    rows = tmp_path / "rows"
    rows.mkdir()
    row = {"person": 1, "year": 2024, "age": 30, "income": 5, "sex": "f", "total": 12.5, "total_lag1": 10}
    (rows / "spending.json").write_text(json.dumps([row]))
    fresh = SuiteUnderTest(
        "planted", include_paths=[tmp_path / "suite"], rows=rows, store=suite.store, registry=suite.registry
    )
    assert run(fresh, "answers").status == "passed"
    assert run(fresh, "missing").status == "passed"
    assert run(fresh, "data").status == "failed"


def test_names_that_are_not_there(planted: Planted) -> None:
    with pytest.raises(SelectionError, match="planted_suite"):
        SuiteUnderTest("planted_suite")
    with pytest.raises(SelectionError, match="'leakage'"):
        list(check_suite(planted(), only=["leakge"]))


def test_the_command_prints_a_line_a_check_and_exits_with_one(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(predictors=[{"names": ["total"]}])
    folder = ["--include-path", str(tmp_path / "suite")]
    assert main(["check", "suite", "planted", *folder, "--only", "leakage", "--only", "parsers"]) == 1
    out = capsys.readouterr().out
    assert "ok      parsers" in out
    assert "FAILED  leakage" in out
    assert "is the true answer itself" in out
    assert main(["check", "suite", "planted", *folder, "--only", "parsers", "--json"]) == 0
    assert '"status": "passed"' in capsys.readouterr().out
    assert main(["check", "suite", "absent"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("words", [["behaviorbench"]])
def test_suites_of_this_repository(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "suite", *words]) == 0, capsys.readouterr().out


def test_householdbench_as_far_as_its_rows_go(capsys: pytest.CaptureFixture[str]) -> None:
    rows = Path(__file__).resolve().parents[1] / "householdbench" / "rows"
    only = [word for name in ("records", "answers", "missing", "leakage", "metrics") for word in ("--only", name)]
    assert main(["check", "suite", "householdbench", "--rows", str(rows), *only]) == 0, capsys.readouterr().out


def test_a_registered_family_must_be_one() -> None:
    assert misfit("family", Family("small", {"temperature": 0.5}, "its card")) is None
    assert misfit("family", object()) == "is no hbench.model.Family"
