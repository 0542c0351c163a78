"""What dies leaves nothing behind that stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.core import leftovers
from hbench.core.leftovers import PREFIX, sweep, temporary_file, temporary_folder

HOLD = """
import sys, time
from pathlib import Path
from hbench.core.leftovers import temporary_file, temporary_folder
with temporary_folder(Path(sys.argv[1]), "build") as folder, temporary_file(Path(sys.argv[1]), "x.json") as file:
    (folder / "half").write_text("half")
    file.write_text("half")
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _not_swept_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_swept", set())


def test_what_a_process_holds_stays_and_what_it_leaves_goes(tmp_path: Path) -> None:
    other = tmp_path / ".build-of-somebody-else"
    other.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    held = sorted(path.name for path in tmp_path.iterdir())
    assert len([name for name in held if name.startswith(PREFIX)]) == 2
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == held
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    leftovers._swept.clear()
    with temporary_file(tmp_path, "y.json"):
        pass
    assert list(tmp_path.iterdir()) == [other]


def test_names_tell_what_they_will_be_and_keep_the_suffix(tmp_path: Path) -> None:
    with temporary_file(tmp_path, "table.parquet") as file, temporary_folder(tmp_path, "a" * 64) as folder:
        assert file.name.startswith(f"{PREFIX}table-")
        assert file.suffix == ".parquet"
        assert folder.name.startswith(f"{PREFIX}{'a' * 20}-")
        assert len(folder.name) < 40
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    lock = leftovers.fcntl.flock

    def late(handle: int, how: int) -> None:
        if not made:
            made.extend(tmp_path.iterdir())
            made[0].rmdir()
        lock(handle, how)

    monkeypatch.setattr(leftovers.fcntl, "flock", late)
    with temporary_folder(tmp_path, "x") as folder:
        assert folder.is_dir()
        assert len(made) == 1
        assert made != [folder]


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{PREFIX}x-1").mkdir()

    def refuse(handle: int, how: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(leftovers.fcntl, "flock", refuse)
    with temporary_folder(tmp_path, "y") as folder:
        assert folder.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}x-1"]


def test_a_link_of_that_name_is_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("")
    (tmp_path / f"{PREFIX}x-1").symlink_to(kept)
    sweep(tmp_path)
    assert (kept / "file").exists()
