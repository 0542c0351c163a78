"""The same commit gives the same wheel and sdist, byte for byte, wherever it is built."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1767225600"
pytestmark = pytest.mark.packaging


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Copy the checkout once, since it may change under a test."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / "sources" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / "sources" / name)
    return tmp_path / "sources"


def build(sources: Path, folder: Path, *, umask: int, locale: str, zone: str) -> dict[str, str]:
    """Build in a copy of the sources, as one user on one machine would; return the SHA-256 of what was built."""
    before = os.umask(umask)
    try:
        shutil.copytree(sources, folder, copy_function=shutil.copyfile)
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"],
            cwd=folder,
            env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "LC_ALL": locale, "TZ": zone, "PYTHONHASHSEED": str(umask)},
            check=True,
            capture_output=True,
        )
    finally:
        os.umask(before)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "dist").iterdir())}


def test_two_builds_in_different_places_are_the_same_bytes(sources: Path, tmp_path: Path) -> None:
    one = build(sources, tmp_path / "one", umask=0o022, locale="C", zone="UTC")
    two = build(sources, tmp_path / "a deeper folder" / "two", umask=0o077, locale="C.UTF-8", zone="Asia/Tokyo")
    assert len(one) == 2
    assert one == two
    (sdist,) = (tmp_path / "one" / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert {(member.uid, member.gid, member.mtime) for member in archive} == {(0, 0, int(EPOCH))}
