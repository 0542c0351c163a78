"""Several processes at the same files at once."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from hbench.report.site.build import MARK, _put
from hbench.testing.mock_server import MockServer
from tests.crash.scenarios import ANSWERS, answer, demo_build, evaluation, leftovers, site, tree, write_toy

_MAIN = "import sys; from hbench.cli.main import main; sys.exit(main())"


def at_once(commands: Sequence[Sequence[str]], place: Path, **environment: str) -> list[tuple[int, str, str]]:
    """Start commands together; return each one's code and what it said."""
    started = [
        subprocess.Popen([sys.executable, "-c", _MAIN, *words], cwd=place, stdout=subprocess.PIPE, text=True,
                         stderr=subprocess.PIPE, env={**os.environ, **environment})
        for words in commands
    ]  # fmt: skip
    said = [process.communicate(timeout=600) for process in started]
    return [(process.returncode, *told) for process, told in zip(started, said, strict=True)]


def test_of_two_processes_on_one_run_the_second_is_told_who_has_it(tmp_path: Path) -> None:
    write_toy(tmp_path / "toy")
    scenario = evaluation(tmp_path / "toy")
    with MockServer(answer=answer, latency=0.01) as server:
        words = scenario.words(tmp_path, server.url)
        ended = at_once([words, words], tmp_path)
        assert server.stats.answered == ANSWERS
        assert server.stats.repeated == 0
    codes = sorted(code for code, _, _ in ended)
    (refused,) = (err for code, _, err in ended if code == 2) if codes == [0, 2] else ("",)
    # On a busy machine one may have ended before the other looked; then that one asks nothing.
    assert codes == [0, 0] or f" on {socket.gethostname()}, since " in refused or "has just started" in refused


@pytest.mark.slow
def test_data_built_by_three_processes_at_once_are_those_that_one_builds(tmp_path: Path) -> None:
    scenario = demo_build()
    (tmp_path / "place").mkdir()
    expected, shown, _ = scenario.whole(tmp_path / "one")
    environment = scenario.environment(tmp_path / "place")
    ended = at_once([scenario.words(tmp_path, "")] * 3, tmp_path, **environment)
    assert [(code, out) for code, out, _ in ended] == [(0, shown)] * 3
    assert scenario.result(tmp_path / "place") == expected
    assert leftovers(tmp_path / "place" / "files") == []


@pytest.mark.slow
def test_a_site_written_by_three_processes_at_once_is_the_one_that_one_writes(tmp_path: Path) -> None:
    write_toy(tmp_path / "toy")
    evaluation(tmp_path / "toy").whole(tmp_path / "run")
    scenario = site(tmp_path / "run" / "files" / "run")
    expected, shown, _ = scenario.whole(tmp_path / "one")
    environment = scenario.environment(tmp_path / "place")
    ended = at_once([scenario.words(tmp_path, "")] * 3, tmp_path / "place", **environment)
    assert [(code, out) for code, out, _ in ended] == [(0, shown)] * 3
    assert scenario.result(tmp_path / "place") == expected
    assert leftovers(tmp_path / "place" / "files") == []


def test_sites_put_in_one_place_at_once_are_each_whole(tmp_path: Path) -> None:
    folder = tmp_path / "site"

    def put(number: int) -> None:
        aside = tmp_path / f"aside-{number}"
        for turn in range(20):
            draft = aside / f"draft-{turn}"
            draft.mkdir(parents=True)
            (draft / "page").write_text(f"{number}")
            (draft / MARK).write_text(json.dumps({"format": "hbench site"}))
            _put(draft, folder, aside / f"turn-{turn}")

    threads = [threading.Thread(target=put, args=[number]) for number in range(4)]
    for number in range(4):
        for turn in range(20):
            (tmp_path / f"aside-{number}" / f"turn-{turn}").mkdir(parents=True)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tree(folder)) == ["page", MARK]
    # None was lost on the way: the last is in its place, and all others were moved aside.
    assert len(list(tmp_path.glob("aside-*/turn-*/old-*/page"))) == 4 * 20 - 1


def test_an_index_cache_written_by_six_processes_at_once_is_whole(tmp_path: Path) -> None:
    write_toy(tmp_path / "toy")
    for path in (tmp_path / "toy" / "tasks").iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))  # settled, so that it is kept
    words = ["ls", "tasks", "toy/*", "--include-path", str(tmp_path / "toy" / "tasks"), "--json"]
    ended = at_once([words] * 6, tmp_path, HBENCH_CACHE=str(tmp_path / "cache"))
    assert [code for code, _, _ in ended] == [0] * 6
    assert len({out for _, out, _ in ended}) == 1
    kept = [json.loads(path.read_text()) for path in (tmp_path / "cache" / "index").iterdir()]
    assert [one["root"] for one in kept].count(str(tmp_path / "toy" / "tasks")) == 1
    assert leftovers(tmp_path / "cache") == []
