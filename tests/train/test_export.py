"""Fine-tuning sets of a toy suite: what is in them, what is refused, and that the same call gives the same bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError, SelectionError
from hbench.data import read_records
from hbench.data.export import SYNTHETIC
from hbench.data.files import sha256_file
from hbench.run.evaluate import evaluate
from hbench.train.export import export
from hbench.train.export_job import ExportSettings, prepare
from tests.train.toy import Toy, lines, play, spend

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path)


@pytest.fixture
def make(toy: Toy) -> Make:
    def made(tasks: str = "spend,play", out: Path | None = None, **settings: Any) -> dict[str, Any]:
        job = prepare(tasks, data=[str(toy.data)], settings=ExportSettings(**settings), include_paths=[toy.tasks])
        return export(job, out or toy.out)

    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_an_example_is_the_prompt_and_the_true_answer(toy: Toy, make: Make) -> None:
    make("spend", per_task=1)
    assert lines(toy.out / "train.jsonl") == [
        {
            "messages": [
                {"role": "system", "content": "You are a person."},
                {"role": "user", "content": "You have 0 dollars. How much do you spend?"},
                {"role": "assistant", "content": "[1]"},
            ],
            "task": "toy/spend",
            "id": "train0",
            "time": "2020-01-01",
            "answer": 0,
            "copy": 0,
        }
    ]


def test_the_first_records_of_each_task_are_taken_and_mixed(toy: Toy, make: Make) -> None:
    manifest = make(per_task=15, validation=3)
    train = lines(toy.out / "train.jsonl")
    taken = [row["id"] for row in train if row["task"] == "toy/spend"]
    assert sorted(taken, key=lambda name: int(name[5:])) == [f"train{i}" for i in range(15)]
    assert taken != sorted(taken, key=lambda name: int(name[5:]))
    # Six players, three copies each, among the others.
    assert Counter(row["id"] for row in train if row["task"] == "toy/play") == {f"a{i}-1": 3 for i in range(6)}
    assert {row["copy"] for row in train if row["id"] == "a0-1"} == {0, 1, 2}
    places = [place for place, row in enumerate(train) if row["task"] == "toy/play"]
    assert places != list(range(places[0], places[0] + 18))
    assert [row["id"] for row in sorted(lines(toy.out / "validation.jsonl"), key=lambda row: row["id"])] == [
        "validation0",
        "validation1",
        "validation2",
    ]
    assert manifest["examples"] == {"train": 33, "validation": 3}
    counts = {name: (one["records"], one["examples"], one["validation"]) for name, one in manifest["tasks"].items()}
    assert counts == {"toy/play": (6, 18, 0), "toy/spend": (15, 15, 3)}


def test_validation_records_can_be_evaluated(toy: Toy, make: Make) -> None:
    make("spend", validation=4)
    records = list(read_records(toy.out / "records/toy/spend/validation.jsonl", task="toy/spend"))
    assert [(record.id, record.gold, record.naive) for record in records] == [
        (f"validation{i}", f"[{101 + i}]", f"[{100 + i}]") for i in range(4)
    ]


def test_synthetic_data_stay_synthetic(toy: Toy, make: Make) -> None:
    """The set of an export of synthetic data, and the evaluation of its validation records, both say so."""
    names = [f"toy/spend/{split}.jsonl" for split in ("train", "validation", "test")]
    digests = {name: sha256_file(toy.data / name) for name in names}
    page = {"tasks": {"toy/spend": {"kind": "demo", "files": digests}}}
    (toy.data / "hbench.json").write_text(json.dumps(page))
    manifest = make("spend")
    assert manifest["notice"] == SYNTHETIC
    assert SYNTHETIC in (toy.out / "README.md").read_text()
    result = evaluate(
        "spend",
        "no_change",
        data=str(toy.out / "records"),
        splits=["validation"],
        include_paths=[toy.tasks],
        out=toy.out.parent / "run",
    )
    assert {(row["data_kind"], row["split"], row["n"]) for row in result.scores} == {("demo", "validation", 10)}


def test_equal_calls_give_equal_bytes(toy: Toy, make: Make) -> None:
    make(out=toy.out / "a")
    make(out=toy.out / "b")
    assert contents(toy.out / "a") == contents(toy.out / "b")
    make(out=toy.out / "c", seed=7)
    assert contents(toy.out / "a")["train.jsonl"] != contents(toy.out / "c")["train.jsonl"]
    assert sorted(map(str, lines(toy.out / "a/train.jsonl"))) == sorted(map(str, lines(toy.out / "c/train.jsonl")))


def test_parquet_holds_the_same(toy: Toy, make: Make) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    make(out=toy.out / "a")
    make(out=toy.out / "b", format="parquet")
    for split in ("train", "validation"):
        assert parquet.read_table(toy.out / f"b/{split}.parquet").to_pylist() == lines(toy.out / f"a/{split}.jsonl")


def test_a_finished_set_is_not_made_again(toy: Toy, make: Make) -> None:
    first = make()
    stamp = (toy.out / "train.jsonl").stat().st_mtime_ns
    assert make() == first
    assert (toy.out / "train.jsonl").stat().st_mtime_ns == stamp
    with pytest.raises(DataError, match="holds another set"):
        make(per_task=3)
    (toy.out / "train.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match="absent or was changed"):
        make()


def test_other_files_are_left_alone(toy: Toy, make: Make) -> None:
    toy.out.mkdir()
    (toy.out / "diary.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        make()
    assert contents(toy.out) == {"diary.txt": b"mine"}
    (toy.out / "diary.txt").unlink()
    assert make()["examples"]["train"] == len(lines(toy.out / "train.jsonl"))  # an empty folder is taken


def test_policy_tasks_are_held_out_unless_they_are_allowed(make: Make) -> None:
    with pytest.raises(SelectionError, match=r"policy tasks are held out.*toy/reform") as raised:
        make("spend,reform")
    assert "--allow-policy" in str(raised.value)
    assert make("spend,reform", allow_policy=True)["tasks"]["toy/reform"]["mode"] == "policy"


def test_what_a_suite_holds_out_is_refused_with_its_reason(make: Make) -> None:
    with pytest.raises(SelectionError, match="toy/secret is held out: it is kept for later"):
        make("spend,secret", allow_policy=True)


def test_data_without_training_records_are_refused(toy: Toy, make: Make) -> None:
    (toy.data / "toy/spend/train.jsonl").unlink()
    with pytest.raises(SelectionError, match="no training split: toy/spend"):
        make("spend")


@pytest.mark.parametrize(
    ("row", "kind", "evaluated"),
    [
        (spend("test3", 203, prompt="Anything else?"), "record", "toy/spend record test3"),
        (spend("new", 7, prompt="You have 203 dollars. How much do you spend?"), "prompt", "toy/spend record test3"),
        # The prompt is another task's, which is not exported.
        (spend("new", 7, prompt="You have 2000 dollars. How much do you spend?"), "prompt", "toy/reform record reform"),
    ],
)
def test_what_gives_an_evaluation_record_away_is_refused(
    toy: Toy, make: Make, row: dict[str, Any], kind: str, evaluated: str
) -> None:
    if kind == "record":
        row["time"] = spend("test3", 203)["time"]
    toy.write("spend", "train", [spend("train0", 0), row])
    with pytest.raises(DataError, match=f"1 by their {kind}") as raised:
        make("spend")
    assert f"toy/spend record {row['id']}@{row['time']} has the same {kind} as {evaluated}" in str(raised.value)
    assert not toy.out.exists()
    manifest = make("spend", drop_leaks=True)
    assert [row["id"] for row in lines(toy.out / "train.jsonl")] == ["train0"]
    assert manifest["tasks"]["toy/spend"]["left_out"] == 1
    assert [text.rpartition(" as ")[0] for text in manifest["leakage"]["left_out"]] == [
        f"toy/spend record {row['id']}@{row['time']} has the same {kind}"
    ]


def test_validation_records_are_checked_as_well(toy: Toy, make: Make) -> None:
    toy.write("spend", "validation", [spend("test3", 203)])
    with pytest.raises(DataError, match="1 by their record, 1 by their prompt"):
        make("spend")


def test_nobody_is_trained_and_evaluated_where_a_task_forbids_it(toy: Toy, make: Make) -> None:
    toy.write("play", "train", [play("a0", 1), {**play("b2", 5), "id": "b2-2"}])
    with pytest.raises(DataError, match=r"1 by their person\n.*toy/play record b2-2 has the same person"):
        make("play")
    toy.write("play", "train", [{key: value for key, value in play("a0", 1).items() if key != "cluster"}])
    with pytest.raises(DataError, match="does not tell whose it is"):
        make("play")


def test_what_is_shared_by_leave_is_counted(toy: Toy, make: Make) -> None:
    # A household's other months, and prompts that all players read.
    toy.write("spend", "train", [spend("train0", 0), {**spend("test3", 0, prompt="In May?"), "time": "2001-05-01"}])
    leakage = make()["leakage"]
    assert leakage["shared_and_kept"] == {"toy/play": {"prompt": 6}, "toy/spend": {"person": 1}}
    assert leakage["left_out"] == []
    # The suite's tasks that are not exported are compared as well.
    assert leakage["evaluation_records"] == {"toy/play": 4, "toy/reform": 1, "toy/secret": 1, "toy/spend": 20}


def test_tasks_without_data_are_named_as_not_checked(toy: Toy, make: Make) -> None:
    for split in ("train", "test"):
        (toy.data / f"toy/secret/{split}.jsonl").unlink()
    assert make()["leakage"]["not_checked"] == ["toy/secret"]


def test_manifest_and_page_say_what_must_be_said(toy: Toy, make: Make) -> None:
    manifest = make("spend")
    assert manifest == json.loads((toy.out / "manifest.json").read_text())
    assert manifest["notices"] == {"toy": ["Credit the toy makers."]}
    page = (toy.out / "README.md").read_text()
    assert "Credit the toy makers." in page
    assert "| toy/spend | folder | 40 | 40 | 10 |" in page
    # had % 3 is the year after 2020, had % 9 + 1 the month: 40 records from had = 0.
    quarters = Counter(f"{2020 + had % 3}Q{(had % 9 + 1 + 2) // 3}" for had in range(40))
    assert manifest["tasks"]["toy/spend"]["quarters"] == quarters


def test_a_wrong_true_answer_names_its_record(toy: Toy, make: Make) -> None:
    toy.write("spend", "train", [{**spend("train0", 0), "assistant": "much"}])
    with pytest.raises(Exception, match=r"task toy/spend, record train0@2020-01-01.*cannot be read"):
        make("spend")
