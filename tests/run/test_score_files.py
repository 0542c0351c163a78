"""Scoring files, rule by rule of the reference scorer (02 Scoring)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbench.core import DataError, ScoreError
from hbench.metric.builtin import BUILTIN
from hbench.parse import BracketedNumber, JsonArray, ProbabilityVectors
from hbench.run.score_files import score_files
from hbench.spec.task import Task

PARSERS = {"json_array": JsonArray, "probability_vectors": ProbabilityVectors, "bracketed_number": BracketedNumber}


class Parts:
    """A registry of the built-in parts alone."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        return (PARSERS if kind == "parser" else BUILTIN)[name]


def task_of(targets: list[dict[str, Any]], metrics: list[Any], parser: str = "json_array", **keys: Any) -> Task:
    return Task.model_validate(
        {
            "task": "demo",
            "suite": "tests",
            "topic": "tests",
            "source": "none",
            "key": {"id": "id"},
            "targets": targets,
            "prompt": {"template": "demo.md.j2"},
            "answer": {"parser": parser},
            "metrics": metrics,
            **keys,
        }
    )


def numeric(*names: str) -> Task:
    return task_of([{"name": name, "kind": "numeric"} for name in names], ["relmae", "nmae"])


CLASSES = task_of(
    [{"name": "status", "kind": "categorical", "labels": ["employed", "unemployed", "out"]}], ["macro_f1", "accuracy"]
)
VECTORS = task_of(
    [{"name": name, "kind": "probability", "labels": ["no", "yes"]} for name in ("lose", "find")],
    ["tv"],
    "probability_vectors",
)


class Files:
    """Writes both files and scores them."""

    def __init__(self, folder: Path) -> None:
        self.gold, self.pred = folder / "gold.jsonl", folder / "pred.jsonl"

    def score(self, task: Task, gold: list[dict], pred: list[dict], **options: Any) -> dict[str, Any]:
        for path, rows in ((self.gold, gold), (self.pred, pred)):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = score_files(task, self.gold, self.pred, registry=Parts(), **options)
        assert json.loads(json.dumps(result, allow_nan=False)) == result
        return result


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def gold(key: Any, answer: str = "[10]", naive: str = "[12]", time: str | None = "2020-03-01", **more: Any) -> dict:
    return {"id": key, "time": time, "assistant": answer, "naive_baseline": naive, **more}


def said(key: Any, answer: Any = "[11]", time: str | None = "2020-03-01", **more: Any) -> dict:
    return {k: v for k, v in {"id": key, "time": time, "prediction": answer, **more}.items() if v is not None}


def errors(result: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["error"] for row in result["invalid_examples"]}


class TestResult:
    def test_numeric(self, files):
        task = numeric("food", "rent")
        rows = [gold("1", "[10, 3]", "[12, 3]"), gold("2", "[20, 5]", "[26, 4]"), gold("3", "[9, 9]", "[9, 9]")]
        result = files.score(task, rows, [said("1", "[11, 3]"), said("2", "[26, 7]"), said("3", "no idea")])
        assert result["metrics"] == {
            "metric_category": "numeric",
            "primary_metric": "mean_relmae",
            "primary_score": (7 / 8 + 2 / 1) / 2,
            "score_direction": "lower_is_better",
            "relmae_by_target": {"food": 7 / 8, "rent": 2.0},
            "mean_relmae": (7 / 8 + 2 / 1) / 2,
            "nmae_by_target": {"food": pytest.approx(3.5 / 5, rel=1e-12), "rent": pytest.approx(1 / 1, rel=1e-12)},
            "mean_nmae": pytest.approx((0.7 + 1) / 2, rel=1e-12),
            "diagnostic_metrics": ["nmae_by_target", "mean_nmae"],
        }
        assert (result["task"], result["mode"], result["suite"]) == ("demo", "baseline", "tests")
        assert (result["num_examples"], result["num_predictions"]) == (3, 3)
        assert (result["num_valid"], result["num_invalid"], result["num_repaired"]) == (2, 1, 0)
        assert (result["valid_response_rate"], result["coverage_rate"]) == (2 / 3, 1.0)
        assert result["error_counts"] == {"expected_json_array": 1}
        assert result["valid_example_ids"] == ["1@2020-03-01", "2@2020-03-01"]
        assert errors(result) == {"3@2020-03-01": "expected_json_array"}
        assert result["details"][0] == {
            "id": "1@2020-03-01",
            "valid": True,
            "raw_prediction": "[11, 3]",
            "parsed_prediction": [11.0, 3.0],
            "reference": [10.0, 3.0],
            "naive_baseline": [12.0, 3.0],
            "error": None,
            "repaired": False,
            "repair": None,
            "error_detail": None,
        }
        assert result["files"]["predictions"]["name"] == "pred.jsonl"
        assert len(result["files"]["records"]["sha256"]) == 64

    def test_categorical(self, files):
        rows = [gold(str(i), f'["{label}"]', "unread") for i, label in enumerate(["employed", "employed", "out"])]
        result = files.score(CLASSES, rows, [said("0", '["employed"]'), said("1", '["out"]'), said("2", '["out"]')])
        f1 = (2 / 3 + 0 + 2 / 3) / 3
        assert result["metrics"]["macro_f1_by_target"] == {"status": pytest.approx(f1, rel=1e-12)}
        assert result["metrics"]["accuracy_by_target"] == {"status": pytest.approx(2 / 3, rel=1e-12)}
        assert result["metrics"]["primary_metric"] == "mean_macro_f1"
        assert result["metrics"]["score_direction"] == "higher_is_better"
        assert result["metrics"]["metric_category"] == "categorical"
        assert result["num_unreadable_baselines"] == 3

    def test_distribution(self, files):
        rows = [gold("0", "[[0.5, 0.5], [0.2, 0.8]]", "unread"), gold("1", "[[1, 0], [0, 1]]", "unread")]
        pred = [said("0", "[[0.25, 0.75], [0.2, 0.8]]"), said("1", "[[0.5, 0.5], [1, 0]]")]
        result = files.score(VECTORS, rows, pred, details=False)
        assert result["metrics"] == {
            "metric_category": "distribution",
            "primary_metric": "mean_total_variation",
            "primary_score": pytest.approx(0.4375),
            "score_direction": "lower_is_better",
            "tv_by_distribution": {"lose": pytest.approx(0.375), "find": pytest.approx(0.5)},
            "mean_total_variation": pytest.approx(0.4375),
        }
        assert "details" not in result

    def test_nothing_valid(self, files):
        result = files.score(numeric("x"), [gold("1", naive="[10]")], [said("1", "")])
        assert result["metrics"]["primary_score"] is None
        assert (result["metrics"]["relmae_by_target"], result["metrics"]["nmae_by_target"]) == ({}, {})
        assert result["metrics"]["mean_nmae"] is None
        assert result["error_counts"] == {"empty_response": 1}

    def test_no_records(self, files):
        result = files.score(numeric("x"), [], [])
        assert (result["num_examples"], result["valid_response_rate"], result["coverage_rate"]) == (0, 0.0, 0.0)

    def test_nmae_is_null_without_spread(self, files):
        result = files.score(numeric("x"), [gold("1")], [said("1")])
        assert result["metrics"]["nmae_by_target"] == {"x": None}
        assert result["metrics"]["mean_relmae"] == 0.5

    def test_the_strict_score_counts_invalid_answers_as_no_change(self, files):
        result = files.score(numeric("x"), [gold("1"), gold("2")], [said("1"), said("2", "?")])
        assert result["scores"][0]["value"] == 0.5
        assert result["scores"][0]["strict_value"] == 0.75


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "error"),
        [
            ('{"x": 1}', "expected_json_array"),
            ("[1, 2]", "expected_1_array_elements"),
            ('["1"]', "x:expected_number"),
            ("[true]", "x:expected_number"),
            ("[NaN]", "x:non_finite_number"),
            ("", "empty_response"),
            ("<think>[1]</think>", "empty_response"),
            (None, "expected_json_array"),
            ("[1" + "0" * 400 + "]", "x:non_finite_number"),
        ],
    )
    def test_reason_codes(self, files, answer, error):
        row = {"id": "1", "time": "2020-03-01", "prediction": answer}
        assert files.score(numeric("x"), [gold("1")], [row])["error_counts"] == {error: 1}

    def test_what_crashes_the_reference_is_a_failure_of_the_row(self, files):
        hostile = ["[" * 100_000, "[" + "9" * 5000 + "]", "[1" + "0" * 400 + "]"]
        pred = [said(str(i), text) for i, text in enumerate([*hostile, "[11]"])]
        result = files.score(numeric("x"), [gold(str(i)) for i in range(4)], pred)
        assert (result["num_valid"], result["num_invalid"]) == (1, 3)
        assert all(result["error_counts"])

    def test_decoded_answers(self, files):
        result = files.score(numeric("x"), [gold("1"), gold("2")], [said("1", [11]), said("2", [math.nan])])
        assert errors(result) == {"2@2020-03-01": "x:non_finite_number"}

    def test_decoded_truth(self, files):
        assert files.score(numeric("x"), [gold("1", [10], [12])], [said("1")])["num_valid"] == 1

    def test_repairs_are_off_and_counted(self, files):
        task, rows = numeric("a", "b", "c"), [gold("1", "[1, 2, 3]", "[0, 0, 0]")]
        pred = [said("1", "[6,620, 3,800, 2,820]")]
        assert files.score(task, rows, pred)["error_counts"] == {"expected_3_array_elements": 1}
        result = files.score(task, rows, pred, repairs=["numbers"])
        assert (result["num_repaired"], result["repairs"]) == (1, ["numbers"])
        assert result["details"][0]["parsed_prediction"] == [6620.0, 3800.0, 2820.0]
        assert (result["details"][0]["repaired"], result["details"][0]["repair"]) == (True, "numbers")

    def test_nesting_repair(self, files):
        rows = [gold("1", "[[0.5, 0.5], [0.2, 0.8]]")]
        pred = [said("1", "[0.96, 0.04], [0.97, 0.03]")]
        assert files.score(VECTORS, rows, pred)["num_invalid"] == 1
        result = files.score(VECTORS, rows, pred, repairs=["nesting"])
        assert result["details"][0]["parsed_prediction"] == [[0.96, 0.04], [0.97, 0.03]]


class TestJoin:
    def test_time_must_match_to_the_letter(self, files):
        result = files.score(numeric("x"), [gold("1"), gold("2")], [said("1", time="2020-03-01T00:00:00")])
        assert errors(result) == {"1@2020-03-01": "time_mismatch", "2@2020-03-01": "missing_prediction"}
        assert result["extra_prediction_ids"] == ["1@2020-03-01T00:00:00"]
        assert (result["num_extra_predictions"], result["coverage_rate"]) == (1, 0.0)

    def test_a_prediction_without_time_needs_unique_ids(self, files):
        result = files.score(numeric("x"), [gold("1"), gold("2")], [said("1", time=None), said("9", time=None)])
        assert result["valid_example_ids"] == ["1@2020-03-01"]
        assert result["extra_prediction_ids"] == ["9"]
        with pytest.raises(ScoreError, match="has no 'time'"):
            files.score(numeric("x"), [gold("1"), gold("1", time="2021-03-01")], [said("1", time=None)])

    def test_example_id_can_hold_id_and_time(self, files):
        row = {"example_id": "1@2020-03-01", "prediction": "[11]"}
        assert files.score(numeric("x"), [gold("1")], [row])["num_valid"] == 1

    def test_example_ids_come_first_then_ids_then_row_numbers(self, files):
        rows = [gold("7", example_id="a"), gold("8"), gold(None)]
        pred = [{"example_id": "a", "prediction": "[11]"}, said("8"), said("2")]
        assert files.score(numeric("x"), rows, pred)["valid_example_ids"] == ["a", "8", "2"]

    def test_without_times_ids_or_row_numbers(self, files):
        rows = [gold("a", time=None), gold(None)]
        result = files.score(numeric("x"), rows, [said("a", time=None), said("1", time=None)])
        assert result["valid_example_ids"] == ["a", "1"]

    def test_numbers_as_ids(self, files):
        assert files.score(numeric("x"), [gold(1)], [said("1")])["num_valid"] == 1

    def test_repeated_truth(self, files):
        with pytest.raises(ScoreError, match="key 1@2020-03-01, first on line 1"):
            files.score(numeric("x"), [gold("1"), gold("1")], [])

    def test_duplicate_predictions_are_listed_up_to_ten(self, files):
        pred = [said(f"{i:02d}") for i in range(12)] * 2
        with pytest.raises(ScoreError, match=r"duplicate prediction ids: 00@.*, 09@2020-03-01 and 2 more"):
            files.score(numeric("x"), [gold("00")], pred)

    def test_nameless_prediction(self, files):
        with pytest.raises(ScoreError, match="missing the required field 'id'"):
            files.score(numeric("x"), [gold("1")], [{"prediction": "[1]"}])

    def test_the_first_present_field_decides_even_if_null(self, files):
        rows = [{"id": "1", "time": "2020-03-01", "raw_output": "[11]", "prediction": None}]
        assert files.score(numeric("x"), [gold("1")], rows)["num_valid"] == 0
        for field in ("raw_output", "response", "model_output", "assistant"):
            row = {"id": "1", "time": "2020-03-01", field: "[11]"}
            assert files.score(numeric("x"), [gold("1")], [row])["num_valid"] == 1

    def test_missing_fields(self, files):
        row = {"id": "1", "time": "2020-03-01", "text": "[11]"}
        result = files.score(numeric("x"), [gold("1")], [row])
        accepted = "prediction, raw_output, response, model_output, assistant"
        assert list(result["error_counts"]) == [f"Prediction row has no response field. Accepted fields: {accepted}"]
        assert files.score(numeric("x"), [gold("1")], [row], prediction_field="text")["num_valid"] == 1
        result = files.score(numeric("x"), [gold("1")], [row], prediction_field="said")
        assert list(result["error_counts"]) == ["Prediction row has no configured response field 'said'"]
        assert result["coverage_rate"] == 1.0


class TestOrderOfChecks:
    """02, section 10: repeated truth, prediction names, truth and no-change row by row, zero denominators last."""

    BAD = gold("b", "ten")

    def test_repeated_truth_comes_before_names(self, files):
        with pytest.raises(ScoreError, match="two true answers"):
            files.score(numeric("x"), [gold("1"), gold("1"), self.BAD], [{"prediction": "[1]"}])

    def test_names_come_before_truth(self, files):
        with pytest.raises(ScoreError, match="duplicate"):
            files.score(numeric("x"), [self.BAD], [said("1"), said("1")])

    def test_truth_and_no_change_row_by_row(self, files):
        with pytest.raises(ScoreError, match="naive_baseline") as caught:
            files.score(numeric("x"), [gold("1", naive="twelve"), self.BAD], [])
        assert (caught.value.line, caught.value.record) == (1, "1@2020-03-01")
        with pytest.raises(ScoreError, match="true answer ten"):
            files.score(numeric("x"), [gold("1"), self.BAD], [])

    def test_a_needed_no_change_answer_must_be_there(self, files):
        row = gold("1")
        del row["naive_baseline"]
        with pytest.raises(ScoreError, match="no no-change answer"):
            files.score(numeric("x"), [row], [said("1")])

    def test_zero_denominator_comes_last_and_only_with_valid_rows(self, files):
        same = [gold("1", "[10]", "[10]")]
        with pytest.raises(ScoreError, match="x:zero_naive_baseline_error"):
            files.score(numeric("x"), same, [said("1")])
        assert files.score(numeric("x"), same, [said("1", "?")])["metrics"]["primary_score"] is None

    def test_errors_beyond_floats_are_undefined_and_not_called_zero(self, files):
        result = files.score(numeric("x"), [gold("1", "[1e308]", "[-1e308]")], [said("1", "[-1e308]")])
        assert result["metrics"]["relmae_by_target"] == {"x": None}


def test_broken_lines_are_named(files):
    files.gold.write_text(json.dumps(gold("1")) + "\n\n")
    files.pred.write_text('{"id": "1"}\nnot json\n')
    with pytest.raises(DataError, match=r"pred.jsonl:2"):
        score_files(numeric("x"), files.gold, files.pred, registry=Parts())
    files.pred.write_text("[1]\n")
    with pytest.raises(DataError, match=r"pred.jsonl:1"):
        score_files(numeric("x"), files.gold, files.pred, registry=Parts())


def test_a_population_is_answered_by_all_rows(files):
    task = task_of([{"name": "share", "kind": "population"}], ["wasserstein"], "bracketed_number")
    people = [{"assistant": f"[{value}]", "system": "", "user": ""} for value in (0, 10)]
    result = files.score(task, people, [{"prediction": text} for text in ("[0]", "[10]", "[10]", "pass")])
    assert result["metrics"]["primary_score"] == pytest.approx(10 * (2 / 3 - 1 / 2))
    assert (result["num_examples"], result["num_valid"], result["num_invalid"]) == (2, 3, 1)
    assert result["valid_response_rate"] == 0.75


number = st.integers(-1000, 1000)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(number, number, st.none() | number), min_size=1, max_size=12), st.randoms())
def test_scores_follow_the_formulas_in_any_order(tmp_path, rows, random):
    truth = [gold(str(i), f"[{g}]", f"[{b}]") for i, (g, b, _) in enumerate(rows)]
    pred = [said(str(i), "?" if p is None else f"[{p}]") for i, (_, _, p) in enumerate(rows)]
    random.shuffle(pred)
    valid = [row for row in rows if row[2] is not None]
    below = sum(abs(b - g) for g, b, _ in valid)
    files = Files(tmp_path)
    if valid and not below:
        with pytest.raises(ScoreError, match="zero_naive_baseline_error"):
            files.score(numeric("x"), truth, pred)
        return
    result = files.score(numeric("x"), truth, pred)
    expected = sum(abs(p - g) for g, _, p in valid) / below if valid else None
    assert result["metrics"]["primary_score"] == expected
    assert result["num_valid"] == len(valid)
