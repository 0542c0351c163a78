"""Disks that are really full, or really closed: small file systems in memory, which only root can mount."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hbench.testing.mock_server import MockServer
from tests.crash.interrupt import command
from tests.crash.scenarios import ANSWERS, answer, durable, evaluation, leftovers, write_toy


def mount(folder: Path, *words: str) -> bool:
    return subprocess.run(["mount", *words, str(folder)], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 200 KiB, which a run's journal fills before all is answered."""
    folder = tmp_path / "place" / "files"
    folder.mkdir(parents=True)
    if sys.platform != "linux" or os.getuid() != 0 or not mount(folder, "-t", "tmpfs", "-o", "size=200k", "tmpfs"):
        pytest.skip("only root can mount a file system, and not everywhere")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_run_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path, disk: Path) -> None:
    place = disk.parent
    write_toy(tmp_path / "toy")
    scenario = evaluation(tmp_path / "toy")
    environment = {"HBENCH_CACHE": str(tmp_path / "cache")}
    with MockServer(answer=answer) as server:
        words = scenario.words(place, server.url)
        ended = command(words, place, disk, environment)
        assert ended.code == 2, ended.err
        assert "Free some space and run the same command again" in ended.err
        kept = durable(place)
        assert 0 < kept < ANSWERS
        assert mount(disk, "-o", "remount,size=10m")
        before = server.stats.answered
        ended = command(words, place, disk, environment)
        assert ended.code == 0, ended.err
        assert server.stats.answered - before == ANSWERS - kept
    assert leftovers(disk) == []


def test_a_run_in_a_folder_that_is_closed_says_what_to_do_and_can_still_be_read(tmp_path: Path, disk: Path) -> None:
    place = disk.parent
    write_toy(tmp_path / "toy")
    scenario = evaluation(tmp_path / "toy")
    environment = {"HBENCH_CACHE": str(tmp_path / "cache")}
    assert mount(disk, "-o", "remount,size=10m")
    with MockServer(answer=answer) as server:
        words = scenario.words(place, server.url)
        assert command(words, place, disk, environment).code == 0
        assert mount(disk, "-o", "remount,ro")
        ended = command(words, place, disk, environment)
        assert ended.code == 2
        assert "Read-only file system" in ended.err
        assert "Make it writable, or name another place." in ended.err
        assert server.stats.answered == ANSWERS
    for words in (["report", "files/run", "--draws-bootstrap", "50"], ["report", "files/run", "--stored"]):
        told = command(words, place, disk, environment)
        assert told.code == 0, told.err
        assert "spend" in told.out
