"""The power cut itself: what it keeps and what it loses, on files whose state is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.interrupt import library, supported
from tests.crash.power import rebuild, remember
from tests.crash.scenarios import tree

pytestmark = pytest.mark.skipif(not supported(), reason="the library needs Linux and a C compiler")

WRITE = """
import os, sys
root = sys.argv[1]
def sync(path):
    handle = os.open(path, os.O_RDONLY); os.fsync(handle); os.close(handle)
def write(name, text, synced):
    with open(os.path.join(root, name), "w") as stream: stream.write(text)
    if synced: sync(os.path.join(root, name))
write("kept", "synced", True)
write("empty", "its name is synced, its content is not", False)
write("old", "first", True)
os.mkdir(os.path.join(root, "folder")); write("folder/inside", "synced", True)
sync(root)
write("old", "second, not synced", False)
write("lost", "its content is synced, its name is not", True)
os.rename(os.path.join(root, "kept"), os.path.join(root, "renamed"))
"""


def cut(tmp_path: Path, seed: int) -> dict[str, bytes]:
    root, shadow = tmp_path / f"root{seed}", tmp_path / f"shadow{seed}"
    root.mkdir()
    (root / "before").write_text("there before")
    remember(root, shadow)
    environment = {"LD_PRELOAD": str(library()), "CRASH_UNDER": str(root), "CRASH_SHADOW": str(shadow)}
    subprocess.run([sys.executable, "-c", WRITE, root], env=environment, check=True)
    rebuild(root, shadow, seed=seed)
    return tree(root)


def test_what_was_not_synced_is_lost(tmp_path: Path) -> None:
    assert cut(tmp_path, 0) == {"before": b"there before", "kept": b"synced", "empty": b"", "old": b"first"}
    assert (tmp_path / "root0" / "folder").is_dir()


def test_some_of_what_was_not_synced_may_be_there(tmp_path: Path) -> None:
    found = [cut(tmp_path, seed) for seed in range(1, 40, 2)]
    assert all(one["before"] == b"there before" for one in found)
    assert {one["old"] for one in found} > {b"first"}
    assert {"renamed" in one for one in found} == {True, False}
    assert {one["folder/inside"] for one in found if "folder/inside" in one} == {b"synced"}
    for one in found:
        # A file has one name or the other, and its synced content under either.
        assert one.get("kept", one.get("renamed")) == b"synced"
