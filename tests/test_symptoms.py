"""What users of other evaluation tools report, and where it is tested that it does not happen here.

`SYMPTOMS` lists each complaint in words with the tests that answer it: tests in their rooms, and those of this file,
which need several rooms at once. Speed and memory at full scale are measured in `benchmarks/`.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.api import evaluate
from hbench.core import AnswerSpec, Completion, Deliver, Failure, Outcome, Parsed, Request
from hbench.metric.numeric import MAE
from hbench.parse import JsonArray
from hbench.plugin import ComponentInfo, Registry, default_registry
from hbench.run.rescore import rescore

TESTS = Path(__file__).parent
HERE = "test_symptoms.py"
SYMPTOMS: Mapping[str, tuple[str, ...]] = {
    "One cache serves two models: the second gets the first one's answers and scores.": (
        "run/test_evaluate.py::test_two_models_never_share_answers",
        "run/test_journal.py::test_a_key_names_all_that_an_answer_depends_on",
        "model/test_lm_eval.py::test_the_identity_tells_models_settings_and_templates_apart",
    ),
    "A run killed late starts from zero; users do not find the flag that keeps answers.": (
        "run/test_kill.py::test_a_killed_run_goes_on",
        "run/test_kill.py::test_runs_killed_at_twenty_points_go_on",
        "run/test_evaluate.py::test_nothing_is_asked_twice",
        "test_real_model.py::test_a_run_that_was_killed_and_stopped_gives_the_same_answers",
    ),
    "After hours of requests a bare AssertionError: nothing saved, nothing said.": (
        "run/test_raising.py::test_a_model_that_raises_keeps_its_answers_and_the_others_their_turn",
        "run/test_raising.py::test_a_parser_that_raises_loses_no_answer",
        "run/test_evaluate.py::test_answers_arriving_in_any_order_score_the_same",
        "run/test_evaluate.py::test_a_model_that_keeps_silent_is_found_out",
        "model/test_lm_eval.py::test_a_failing_chunk_keeps_those_before_it",
        "model/test_http.py::test_draws_that_the_server_left_out_are_asked_for_again",
    ),
    "Parallel processes write the same cache file and spoil it.": (
        f"{HERE}::test_processes_that_share_a_cache_and_a_store_do_not_disturb_each_other",
        "run/test_evaluate.py::test_a_folder_in_use_is_refused_with_its_owner",
        "data/test_store.py::test_a_folder_appears_whole_or_not_at_all",
        "data/test_build.py::test_the_same_bytes_for_any_number_of_jobs",
    ),
    "Runs killed by the system stay 'started' and are never retried.": (
        "run/test_kill.py::test_a_killed_run_goes_on",
        "run/test_kill.py::test_a_lock_left_by_a_dead_process_is_no_hindrance",
    ),
    "A NumPy number among the results breaks writing them, after the whole run.": (
        f"{HERE}::test_numpy_numbers_from_models_and_metrics_are_written",
        "metric/test_score.py::test_rows_are_plain_json",
        "data/test_records.py::test_numpy_values_are_written_as_what_they_are",
    ),
    "A file of JSON lines silently became one JSON list, and readers broke.": (
        f"{HERE}::test_every_record_has_its_line_with_its_answer_or_its_failure",
        "data/test_records.py::test_files_of_other_formats_are_named",
    ),
    "Failed samples are missing from the final log.": (
        f"{HERE}::test_every_record_has_its_line_with_its_answer_or_its_failure",
        "run/test_evaluate.py::test_parse_failures_are_answers_and_request_failures_are_not",
        "test_real_model.py::test_what_cannot_be_read_is_counted_and_shown",
    ),
    "'No tasks found' after an edit to one field, or since a folder here shadows a package; the cause unsaid.": (
        f"{HERE}::test_folders_in_the_working_directory_shadow_no_package",
        "spec/test_index.py::test_a_broken_file_hides_no_other",
        "spec/test_select.py::test_an_empty_selection_is_an_error",
        "cli/test_ls.py::test_broken_files_and_clashes_are_told_and_counted",
    ),
    "A file without an optional key is listed and fails when run; the library knows no tasks until it is prepared.": (
        f"{HERE}::test_the_shortest_task_runs_from_the_library_in_one_call",
        "cli/test_ls.py::test_every_listed_task_can_be_shown",
    ),
    "Listing thousands of tasks takes half a minute.": (
        "spec/test_index.py::test_listing_imports_no_plugin_and_nothing_heavy",
        "cli/test_main.py::test_listing_imports_nothing_heavy",
        "spec/test_index.py::test_the_cache_is_used_and_may_be_anything",
    ),
    "A misspelt key is a TypeError, broken YAML is ignored and found valid, of two equal names one wins.": (
        "cli/test_validate.py::test_a_fault_is_found_with_file_and_line",
        "cli/test_validate.py::test_folders_pages_and_names_given_twice",
        "spec/test_load.py::test_a_mistake_has_a_line_and_the_nearest_word",
        "spec/test_index.py::test_two_files_of_one_name_are_an_error_for_both",
        "cli/test_eval.py::test_a_misspelt_task_names_the_nearest",
        "plugins/test_own_table.py::test_wrong_values_of_parameters_are_told_with_file_and_line",
    ),
    "A parameter that the server refuses fails every request, and refusals are retried.": (
        "model/test_http.py::test_what_a_retry_cannot_change_is_not_retried",
        "model/test_http.py::test_a_parameter_that_the_server_refuses_ends_the_run_early",
        "model/test_http.py::test_unset_settings_are_not_sent",
    ),
    "Servers shape their answers differently, and every request fails.": (
        "model/test_openai.py::test_forms_of_an_answer",
        "model/test_openai.py::test_bodies_that_are_no_answer",
        "model/test_openai.py::test_forms_of_a_complaint",
    ),
    "Throughput collapses with many connections.": (
        "model/test_http.py::test_slots_are_used_up_to_the_concurrency_and_never_above",
        "run/test_journal.py::test_many_answers_share_few_commits",
    ),
    "Eight exponential retries of a lasting fault stall a run.": (
        "model/test_http.py::test_a_lasting_fault_has_a_name_and_an_end",
        "model/test_http.py::test_hopeless_refusals_end_the_model_at_once",
        "model/test_http.py::test_a_server_that_is_down_is_given_up_with_a_clear_message",
        "model/test_http.py::test_a_wait_of_hours_is_a_failure_instead",
    ),
    "More requests than slots misbehave, time-outs hide behind a bug in their report, memory grows with failures.": (
        "model/test_flow.py::test_jobs_are_taken_lazily_and_parking_is_bounded",
        "model/test_http.py::test_waiting_requests_release_their_slots",
        "model/test_http.py::test_memory_stays_flat",
    ),
    "A group's mean is unweighted, its error bar is of another estimator, and means of groups of groups are wrong.": (
        "metric/test_gather.py::test_the_macro_average_is_the_mean_of_the_groups",
        "metric/test_gather.py::test_counts_times_statistics_are_the_scores_of_resamples",
        "metric/test_score.py::test_micro_pools_the_rows_and_still_shows_the_groups",
        "stat/test_bootstrap.py::test_agrees_with_a_direct_loop",
        "stat/test_board.py::test_mean_of_topics_beside_mean_of_tasks",
    ),
    "Eight draws are paid for, and only the first is scored.": (
        f"{HERE}::test_all_draws_are_scored",
        "metric/test_draws.py::test_mean_ignores_arrival",
        "report/test_analyses.py::test_more_draws_are_better_and_one_draw_is_the_plain_mean",
    ),
    "Standard errors ignore that several rows are of one household.": (
        "stat/test_bootstrap.py::test_design_effect_of_doubled_rows_is_two",
        "stat/test_resample.py::test_clusters_come_whole",
        "report/test_comparison.py::test_weights_and_clusters_are_named_with_their_design_effect",
    ),
    "The same command gives other numbers, and nothing tells how much of a difference is noise.": (
        "model/test_lm_eval.py::test_a_sampled_answer_hangs_on_its_own_prompt_and_draw_alone",
        "model/test_http.py::test_draws_have_seeds_of_their_own",
        "cli/test_report.py::test_the_same_seed_gives_the_same_report",
        "report/test_comparison.py::test_every_number_says_which_interval_it_has",
        "test_real_model.py::test_a_run_that_was_killed_and_stopped_gives_the_same_answers",
    ),
    "A chat template is applied for one back end and not for another, and the table does not say.": (
        f"{HERE}::test_a_chat_template_that_is_off_is_told_in_the_label_and_the_manifest",
        "model/test_lm_eval.py::test_a_template_that_drops_the_system_turn_gets_it_with_the_question",
        "model/test_lm_eval.py::test_a_model_without_template_says_what_to_do",
    ),
    "Hooks are silently not loaded; 'not found' where the package and its distribution have different names.": (
        "plugin/test_installed.py::test_a_good_package",
        "plugin/test_installed.py::test_a_broken_package",
        "plugin/test_installed.py::test_two_distributions_that_claim_the_same_names",
        "plugin/test_loader.py::test_a_plugin_that_fails_takes_no_other_down",
    ),
    "Looking at a large run, or going on with it, takes all memory.": (
        "run/test_journal.py::test_more_keys_than_a_query_holds",
        "metric/test_table.py::test_takes_few_bytes_a_row",
        "model/test_http.py::test_memory_stays_flat",
    ),
    "A run can only be opened from the folder where it began; listing needs a network or ends in an IndexError.": (
        f"{HERE}::test_a_run_is_scored_again_from_any_folder",
        f"{HERE}::test_listing_needs_no_network_and_no_luck",
        "cli/test_ls.py::test_nothing_found_is_an_error_with_near_misses",
    ),
}
TASK = """
task: spend
topic: money
source: none
key: {id: id}
targets: [{name: amount, kind: numeric}]
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array}
metrics: [mae]
"""


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_each_symptom_has_tests_that_are_there(symptom: str) -> None:
    assert SYMPTOMS[symptom]
    for name in SYMPTOMS[symptom]:
        file, _, test = name.partition("::")
        functions = (node for node in ast.walk(ast.parse((TESTS / file).read_text())) if hasattr(node, "name"))
        assert test in {function.name for function in functions}, name


class Study:
    """The shortest task that can be, in a folder of its own, with data in a plain folder."""

    def __init__(self, root: Path, rows: int = 12) -> None:
        self.root, self.tasks, self.data = root, root / "study", root / "data"
        self.tasks.mkdir()
        self.data.mkdir()
        (self.tasks / "spend.yaml").write_text(TASK + "suite: study\n")
        records = [{"id": f"r{i}", "user": f"Case {i}: how much?", "assistant": f"[{i}]"} for i in range(rows)]
        (self.data / "spend.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


class Scripted:
    """A model made of a function of the record's number and the draw."""

    name, reads, identity = "scripted", "messages", {"model": "scripted"}

    def __init__(self, answer: Any) -> None:
        self.script = answer

    def unsupported(self, task: str) -> str | None:
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        for request in requests:
            for draw in request.draws:
                await deliver(request, draw, self.script(int(request.record.id[1:]), draw))

    async def aclose(self) -> None:
        return


def python(program: str, *, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_processes_that_share_a_cache_and_a_store_do_not_disturb_each_other(study: Study) -> None:
    shared = {"HBENCH_CACHE": str(study.root / "cache"), "HBENCH_DATA": str(study.root / "store")}
    table = "".join(f"r{i},{i},{i}\n" for i in range(300))
    (study.tasks / "people.csv").write_text(f"id,wave,amount\n{table}")
    text = (study.tasks / "spend.yaml").read_text().replace("source: none", "source: {file: people.csv}")
    split = "split: {unit: subject, column: id, share: 0.5}\n"
    (study.tasks / "spend.yaml").write_text(text.replace("{id: id}", "{id: id, time: wave}") + split)
    program = """
from hbench import evaluate
result = evaluate("spend", "marginal", include_paths=["../study"], out="run")
print(result.scores[0]["value"], result.scores[0]["fingerprint"])
"""
    folders = [study.root / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda folder: python(program, folder=folder, **shared), folders))
    assert [one.returncode for one in done] == [0] * 3, "\n".join(one.stderr for one in done)
    assert len({one.stdout for one in done}) == 1
    assert python(program, folder=folders[0], **shared).stdout == done[0].stdout


class RoughParser(JsonArray):
    """Reads numbers of NumPy."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Any:
        read = super().__call__(completion, answer)
        return Parsed(tuple(np.float32(value) for value in read.values)) if isinstance(read, Parsed) else read  # type: ignore[misc]


class RoughMetric(MAE):
    """Gives numbers of NumPy back."""

    def reduce(self, sums: Any) -> Any:
        return np.float32(super().reduce(sums)) if np.ndim(sums) == 1 else np.float32(1) * super().reduce(sums)


def test_numpy_numbers_from_models_and_metrics_are_written(study: Study) -> None:
    def answer(number: int, draw: int) -> Outcome:
        tokens: Any = np.int64(number)
        cost: Any = np.float32(0.5)
        return Completion(f"[{number + 1}]", tokens_in=tokens, tokens_out=tokens, cost=cost)

    text = TASK.replace("[mae]", "[planted/rough, mae]").replace("json_array", "planted/rough")
    (study.tasks / "spend.yaml").write_text(f"{text}suite: study\n")
    own = [
        ComponentInfo(kind, "rough", "planted", f"{__name__}:Rough{kind.title()}", "planted", "1")
        for kind in ("metric", "parser")
    ]
    registry = Registry([*default_registry().names(), *own])
    result = evaluate(
        "spend",
        Scripted(answer),
        data=study.data,
        include_paths=[study.tasks],
        out=study.root / "run",
        registry=registry,
    )
    stored = json.loads((result.path / "scores.json").read_text())
    assert {row["metric"]: row["value"] for row in stored["rows"] if row["target"] is None} == {
        "planted/rough": 1.0,
        "mae": 1.0,
    }
    (about,) = json.loads((result.path / "manifest.json").read_text())["models"]
    assert about["spent"] == {"answers": 12, "tokens_in": 66, "tokens_out": 66, "cost": 6.0}


def test_every_record_has_its_line_with_its_answer_or_its_failure(study: Study) -> None:
    def answer(number: int, draw: int) -> Outcome:
        if number % 3 == 1:
            return Failure("request", "http_500", "boom")
        return Completion("no idea" if number % 3 == 2 else f"[{number}]")

    result = evaluate("spend", Scripted(answer), data=study.data, include_paths=[study.tasks], out=study.root / "run")
    (file,) = (result.path / "predictions").rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert all(isinstance(line, dict) for line in lines)
    assert {line["id"]: line.get("error") for line in lines} == {
        f"r{i}": (None, "http_500", "expected_json_array")[i % 3] for i in range(12)
    }
    assert [line["prediction"] for line in lines if line.get("error") == "expected_json_array"] == ["no idea"] * 4
    (row,) = (row for row in result.scores if row["target"] is None)
    assert (row["n"], row["valid"], row["invalid"]) == (12, 4, 8)
    assert {about["reason"]: about["count"] for about in result.results.invalid} == {
        "http_500": 4,
        "expected_json_array": 4,
    }


def test_folders_in_the_working_directory_shadow_no_package(tmp_path: Path) -> None:
    for name in ("hbench", "hbench_wagepanel", "hbench_randhie", "task_yamls", "tasks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('shadowed')")
    command = Path(sys.executable).with_name("hbench")
    done = subprocess.run(
        [command, "ls", "tasks", "@wagepanel,@randhie", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert {"wagepanel", "randhie"} == {task["suite"] for task in json.loads(done.stdout)}


def test_the_shortest_task_runs_from_the_library_in_one_call(study: Study) -> None:
    program = """
import hbench
result = hbench.evaluate("spend", "replay:answers.jsonl", data="data", include_paths=["study"], out="run")
print(result.table())
"""
    lines = [json.dumps({"id": f"r{i}", "prediction": f"[{i + 2}]"}) + "\n" for i in range(12)]
    (study.root / "answers.jsonl").write_text("".join(lines))
    done = python(program, folder=study.root)
    assert done.returncode == 0, done.stderr
    assert "2.0000" in done.stdout


def test_all_draws_are_scored(study: Study) -> None:
    text = (study.tasks / "spend.yaml").read_text()
    (study.tasks / "spend.yaml").write_text(text.replace("json_array", "json_array, aggregate: mean, draws: 8"))
    asked: list[tuple[int, int]] = []

    def answer(number: int, draw: int) -> Outcome:
        asked.append((number, draw))
        return Completion(f"[{number + draw}]")

    result = evaluate("spend", Scripted(answer), data=study.data, include_paths=[study.tasks], out=study.root / "run")
    assert len(asked) == len(set(asked)) == 96
    # The mean of eight answers is 3.5 too high; the first alone would be right.
    (row,) = (row for row in result.scores if row["target"] is None)
    assert (row["value"], row["draws"]) == (3.5, 8)


def test_a_chat_template_that_is_off_is_told_in_the_label_and_the_manifest(study: Study) -> None:
    pytest.importorskip("lm_eval")
    spec = "lm-eval:dummy,chat_template=off"
    result = evaluate("spend", spec, data=study.data, include_paths=[study.tasks], out=study.root / "run", limit=2)
    assert {row["model"] for row in result.scores} == {spec}
    assert "chat_template=off" in result.table()
    (about,) = json.loads((result.path / "manifest.json").read_text())["models"]
    assert about["identity"]["chat_template"] is False


def test_a_run_is_scored_again_from_any_folder(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.root)
    answers = Scripted(lambda number, draw: Completion(f"[{number + 1}]"))
    result = evaluate("spend", answers, data="data", include_paths=["study"], out="run")
    elsewhere = study.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert rescore(Path("../run")).scores == result.scores


def test_listing_needs_no_network_and_no_luck(tmp_path: Path) -> None:
    program = """
import socket, sys
def refuse(*_): raise OSError("there is no network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from hbench.cli.main import main
assert main(["ls", "tasks"]) == 0
for kind in ("suites", "models", "metrics", "sources", "plugins"):
    assert main(["ls", kind]) == 0
sys.exit(main(["ls", "tasks", "."]))
"""
    done = python(program, folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "no task matches '.'" in done.stderr
    assert "Traceback" not in done.stderr
