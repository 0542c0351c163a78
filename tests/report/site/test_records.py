from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, ClassVar

from hbench.core import Completion
from hbench.report.comparison import Comparison
from hbench.report.site import write_site
from hbench.report.site.records import CHUNK
from hbench.run.evaluate import evaluate
from tests.report.site.making import HOSTILE, VIEW, Made


def load(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def test_the_catalogue_lists_every_split_with_its_models(site: Made) -> None:
    parts = load(site.folder / "records" / "catalogue.json.gz")["parts"]
    assert len(parts) == 8
    assert all(part["records"] == 30 and part["models"] == ["good", "poor", "no_change"] for part in parts)


def test_the_index_holds_truth_state_and_error_of_every_record(site: Made) -> None:
    (part,) = [p for p in site.comparison.parts if p.task.task == "spend" and p.split == "pre_cutoff_test"]
    index = load(site.folder / "records" / "study-spend-pre_cutoff_test" / "index.json.gz")
    assert index["records"] == [record.key for record in part.records]
    poor = next(model for model in index["models"] if model["label"] == "poor")
    for i, answered in enumerate(part.answers["poor"]):
        row = answered.row
        assert index["truth"][i] == list(row.gold)
        assert index["no_change_error"][i] == abs(row.naive[0] - row.gold[0])  # type: ignore[index, operator]
        if row.prediction is None:
            assert (poor["states"][i], poor["errors"][i]) == ("0", None)
        else:
            assert poor["states"][i] == "1"
            assert poor["errors"][i] == float(f"{abs(row.prediction[0] - row.gold[0]):.5g}")  # type: ignore[operator]
    (age, sex) = index["groups"]
    assert (age["field"], sex["field"], sex["groups"]) == ("age", "sex", ["f", "m"])
    assert [sex["groups"][code] for code in sex["of"]] == ["f" if i % 2 else "m" for i in range(30)]


def test_answers_have_every_draw_with_what_was_read_from_it(site: Made, big_study: tuple[Any, Path]) -> None:
    study, _ = big_study
    folder = site.folder / "records" / "study-move-pre_cutoff_test"
    answers = load(folder / "answers-poor-0.json.gz")
    said = [json.loads(line) for line in (study.root / "poor" / "move.jsonl").read_text().splitlines()]
    assert len(answers) == 30
    for i, answer in enumerate(answers):
        mine = [line["prediction"] for line in said if line["id"] == f"p{i}"]
        assert [draw["text"] for draw in answer["draws"]] == mine
        for draw in answer["draws"]:
            if draw["text"] == "nonsense":
                assert draw["failure"][:1] == ["parse"]
                assert "values" not in draw
            else:
                assert draw["values"] == json.loads(draw["text"])


def test_prompts_stand_once_with_repeated_texts_once(hostile_site: Made) -> None:
    (folder,) = [path for path in (hostile_site.folder / "records").iterdir() if path.is_dir()]
    chunks = sorted(folder.glob("prompts-*.json.gz"))
    assert [path.name for path in chunks] == ["prompts-0-0.json.gz", "prompts-0-1.json.gz"]
    first = load(chunks[0])
    assert len(first["records"]) == CHUNK
    # One system prompt for all, and a turn of each person's own.
    assert len(first["texts"]) == CHUNK + 1
    assert [role for role, _ in first["records"][3]["messages"]] == ["system", "user"]
    assert [first["texts"][text] for _, text in first["records"][3]["messages"]] == [HOSTILE, f"3 {HOSTILE}"]


def test_reasoning_and_hostile_answers_are_kept_word_for_word(hostile_site: Made) -> None:
    (folder,) = [path for path in (hostile_site.folder / "records").iterdir() if path.is_dir()]
    (second,) = [path for path in folder.glob("answers-*-0.json.gz") if "second" in path.name]
    answers = load(second)
    assert answers[0]["draws"][0]["reasoning"] == f"reason {HOSTILE}"
    assert answers[0]["draws"][0]["text"] == f"{HOSTILE} 0"
    assert answers[0]["prediction"] is None


TASK = """
suite: toy
task: spend
topic: t
source: {file: people.csv}
key: {id: id}
targets: [{name: amount, kind: numeric, no_change: lag}]
prompt:
  paragraphs:
    - {text: "You earn {{ income }}.", section: history}
    - How much do you spend?
answer: {parser: json_array}
metrics: [relmae]
"""


class Reader:
    """A model that reads prompts and says seven."""

    name = "reader"
    reads = "messages"
    generative = True
    identity: ClassVar[dict[str, str]] = {"model": "reader"}

    def unsupported(self, task: str) -> None:
        return None

    async def answer(self, requests: Any, deliver: Any) -> None:
        for request in requests:
            for draw in request.draws:
                await deliver(request, draw, Completion("[7]"))

    async def aclose(self) -> None:
        return None


def test_models_without_a_section_of_the_prompt_have_prompts_of_their_own(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    (tasks / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (tasks / "spend.yaml").write_text(TASK)
    rows = "".join(f"p{i},{10 * i},{i},{i + 1}\n" for i in range(4))
    (tasks / "people.csv").write_text("id,income,amount,lag\n" + rows)
    runs = []
    for name, without in (("full", []), ("bare", ["history"])):
        done = evaluate("toy/spend", Reader(), include_paths=[tasks], out=tmp_path / name, without=without)
        runs.append(done.path)
    write_site(Comparison.load(runs), VIEW, tmp_path / "site")
    (folder,) = [path for path in (tmp_path / "site" / "records").iterdir() if path.is_dir()]
    models = {model["label"]: model["prompts"] for model in load(folder / "index.json.gz")["models"]}
    assert models == {"reader": 0, "reader without history": 1}
    full, bare = (load(folder / f"prompts-{number}-0.json.gz")["texts"] for number in (0, 1))
    assert all(text.startswith("You earn") for text in full)
    assert bare == ["How much do you spend?"]
    # The section's worth has its place among the analyses.
    assert "reader" in (tmp_path / "site" / "analyses.html").read_text().partition('id="sections"')[2]
