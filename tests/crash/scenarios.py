"""What is interrupted: commands, what they change, and how to tell that a later run made up for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.testing.mock_server import MockServer, Question
from tests.crash.interrupt import CODES, Ended, Interruption, again, command

SLOTS = 4
RECORDS, DRAWS, MODELS = 24, 2, 2
ANSWERS = RECORDS * DRAWS * MODELS
_TASK = """
task: spend
suite: toy
topic: consumption
source: none
key: {id: id, time: time}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array, round: integer, aggregate: mean}
metrics: [relmae, nmae]
"""
_HINTS = {"full": "free some space", "readonly": "writable"}
"""What an error must say to do."""


@dataclass(frozen=True)
class Scenario:
    """A command and what it makes.

    Attributes
    ----------
    words : function of the place, or of it and a server's address
        The command.
    result : function of the place
        What the command made, by name, without times; must not depend on the place.
    served : bool
        Whether a model server answers, whose counts are compared with the journal.
    foreign : bool
        Whether other libraries leave temporary files of their own, which are then kept elsewhere.
    """

    name: str
    words: Callable[[Path, str], list[str]]
    result: Callable[[Path], dict[str, Any]]
    served: bool = False
    foreign: bool = False

    def environment(self, place: Path) -> dict[str, str]:
        """Return what keeps the command's files, temporary ones too, in the folder that is watched."""
        watched = place / "files"
        temporary = place / "tmp" if self.foreign else watched
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "HBENCH_DATA": str(watched / "data"),
            "HBENCH_CACHE": str(watched / "cache"),
            "TMPDIR": str(temporary),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
        }

    def whole(self, place: Path) -> tuple[dict[str, Any], str, int]:
        """Run undisturbed; return what was made, what was shown, and the number of changes to files."""
        with self._server() as server:
            ended = self._run(place, server, Interruption())
        assert ended.code == 0, ended.err
        return self.result(place), ended.out, ended.changes

    def survive(self, place: Path, what: Interruption, expected: Mapping[str, Any], shown: str) -> bool:
        """Interrupt the command, and run it again; return whether it was interrupted before its end.

        Raises
        ------
        AssertionError
            Something was lost, asked again, half written, left over, or told badly.
        """
        with self._server() as server:
            ended = self._run(place, server, what)
            asked = 0 if server is None else server.stats.answered
        interrupted = ended.code != 0
        assert ended.code in (0, CODES[what.kind]), (ended.code, ended.err)
        # Threads of other libraries print what ends them; the end must be ours.
        from_thread = self.foreign and "\nException in thread" in ended.err
        said = ended.err[ended.err.rfind("\nhbench: ") :] if from_thread else ended.err
        assert "Traceback" not in said, ended.err
        if interrupted and what.kind in _HINTS:
            assert _HINTS[what.kind] in ended.err.lower(), ended.err
        kept = durable(place) if self.served else 0
        assert asked - kept <= SLOTS, f"{asked} answers, {kept} durable: more than what was in flight is lost"
        with self._server() as server:
            environment = self.environment(place)
            ended = again(self.words(place, _url(server)), place, place / "files", environment, what.kind)
            assert ended.code == 0, ended.err
            if server is not None:
                assert server.stats.answered == ANSWERS - kept, (server.stats.answered, ANSWERS, kept)
                assert server.stats.repeated == 0
        left = leftovers(place / "files")
        assert not left, f"left over: {left}"
        found = self.result(place)
        assert found.keys() == expected.keys(), f"made: {sorted(found.keys() ^ expected.keys())}"
        for name, content in expected.items():
            assert found[name] == content, f"{name} is another"
        assert ended.out == shown, f"shown: {ended.out}"
        return interrupted

    def _run(self, place: Path, server: MockServer | None, what: Interruption) -> Ended:
        place.mkdir(parents=True)
        return command(self.words(place, _url(server)), place, place / "files", self.environment(place), what)

    @contextmanager
    def _server(self) -> Iterator[MockServer | None]:
        if not self.served:
            yield None
            return
        with MockServer(answer=answer, latency=0.002) as server:
            yield server


def leftovers(folder: Path) -> list[str]:
    """Return the temporary files and folders below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if _temporary(path.name))


def _temporary(name: str) -> bool:
    return name.startswith((".", "tmp", "hbench-")) or name.endswith((".tmp", ".partial"))


def durable(place: Path) -> int:
    """Return the number of answers in the journal."""
    journal = place / "files" / "run" / "journal.sqlite"
    if not journal.exists():
        return 0
    connection = sqlite3.connect(journal)
    try:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0]) if "answers" in tables else 0
    finally:
        connection.close()


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _url(server: MockServer | None) -> str:
    return "" if server is None else server.url


def answer(question: Question) -> str:
    return f"[{sum(f'{question.model} {question.seed} {question.prompt}'.encode()) % 60}]"


def write_toy(root: Path) -> None:
    """Write a task and its records."""
    (root / "tasks").mkdir(parents=True)
    (root / "tasks" / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (root / "tasks" / "spend.yaml").write_text(_TASK)
    (root / "records").mkdir()
    with (root / "records" / "spend.jsonl").open("w") as stream:
        for i in range(RECORDS):
            row = {"id": f"r{i}", "time": "2020-01-01", "release_date": "2020-06-01", "system": "You are a person."}
            row |= {"user": f"You have {i} dollars. How much do you spend?", "assistant": f"[{i % 50 + 1}]"}
            stream.write(json.dumps(row | {"naive_baseline": f"[{i % 40}]"}) + "\n")


def _evaluated(place: Path) -> dict[str, Any]:
    run = place / "files" / "run"
    manifest = json.loads((run / "manifest.json").read_text())
    for name in ("started", "finished", "command"):
        del manifest[name]
    for model in manifest["models"]:
        del model["spec"]  # the server's port
    made = {name: data for name, data in tree(run).items() if name == "scores.json" or name.startswith("predictions/")}
    return {**made, "manifest.json": manifest}


def evaluation(root: Path) -> Scenario:
    """Two models on one task, two draws of each record, whose files are below `root`."""

    def words(place: Path, url: str) -> list[str]:
        options = f"base_url={url},concurrency={SLOTS},seed=7"
        models = [word for name in ("one", "two") for word in ("--model", f"openai:{name},{options}")]
        toy = ["--data", str(root / "records"), "--include-path", str(root / "tasks")]
        return ["eval", "--tasks", "spend", *models, *toy, "--draws", str(DRAWS), "--out", "files/run"]

    return Scenario("eval", words, _evaluated, served=True)


def _stored(place: Path) -> dict[str, Any]:
    return tree(place / "files" / "data")


def demo_build() -> Scenario:
    """Synthetic raw files of two sources, and two tasks of them."""
    tasks = ["acrossdim_pers_score", "game_behavior_dictator"]
    return Scenario("data demo", lambda place, url: ["data", "demo", *tasks, "--scale", "0.1"], _stored)


def raw_build(raw: Path) -> Scenario:
    """Two tasks of raw files that are there."""
    tasks = ["acrossdim_pers_score", "pers_score_pred"]
    words = ["data", "build", *tasks, "--raw", str(raw), "--accept-changed"]
    return Scenario("data build", lambda place, url: words, _stored)


def site(run: Path) -> Scenario:
    """A site of a run that is there."""

    def words(place: Path, url: str) -> list[str]:
        return ["report", str(run), "--html", "files/site", "--draws-bootstrap", "200"]

    return Scenario("report --html", words, lambda place: tree(place / "files" / "site"))


def _trained(place: Path) -> dict[str, Any]:
    manifest = json.loads((place / "files" / "out" / "manifest.json").read_text())
    losses = [round(one["loss"], 5) for one in manifest["losses"]]
    return {"losses": losses, "adapter": manifest["adapter"], "status": manifest["status"]}


def training(base: Path, data: Path, settings: Mapping[str, Any]) -> Scenario:
    """A few steps of a tiny model."""

    def words(place: Path, url: str) -> list[str]:
        more = [word for name, value in settings.items() for word in ("--set", f"{name}={json.dumps(value)}")]
        told = ["--model", str(base), "--data", str(data), "--include-path", str(data / "tasks")]
        return ["sft", "train", *told, "--out", "files/out", *more]

    return Scenario("sft train", words, _trained, foreign=True)
