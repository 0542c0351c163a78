from __future__ import annotations

import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from hbench.core import DataError, RawFile
from hbench.data import DataChoice, Store, content_digest
from hbench.data.choice import choose
from hbench.data.files import atomic_file, atomic_folder, raw_file_digests


def test_the_store_s_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    assert Store().root == tmp_path
    monkeypatch.delenv("HBENCH_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store().root == tmp_path / ".cache" / "hbench"
    assert Store().find("s/t", "demo") is None
    with pytest.raises(DataError, match="not a qualified name"):
        Store().find("t", "demo")


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_folder(tmp_path / "a" / "b") as folder:
            (folder / "x").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list((tmp_path / "a").iterdir()) == []
    for text in ("first", "second"):
        with atomic_folder(tmp_path / "a" / "b") as folder:
            (folder / "x").write_text(text)
    # Folders are named by their content, so the first one stays.
    assert (tmp_path / "a" / "b" / "x").read_text() == "first"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("old")

    def fail() -> None:
        with atomic_file(file) as path:
            path.write_text("ha")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert file.read_text() == "old"
    with atomic_file(file) as path:
        path.write_text("new")
    assert file.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_content_digests_look_into_archives(tmp_path: Path) -> None:
    plain = hashlib.sha256(b"content").hexdigest()
    (tmp_path / "a.csv").write_bytes(b"content")
    for level in (1, 9):
        (tmp_path / f"{level}.gz").write_bytes(gzip.compress(b"content", level))
        assert content_digest(tmp_path / f"{level}.gz") == plain == content_digest(tmp_path / "a.csv")
    for name, members in (("x", "ab"), ("y", "ba")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for member in members:
                archive.writestr(member, f"content of {member}")
    expected = hashlib.sha256()
    for member in "ab":
        expected.update(member.encode() + b"\0" + (12).to_bytes(8, "big") + f"content of {member}".encode())
    assert content_digest(tmp_path / "x.zip") == content_digest(tmp_path / "y.zip") == expected.hexdigest()
    only = hashlib.sha256(b"b\0" + (12).to_bytes(8, "big") + b"content of b")
    assert content_digest(tmp_path / "x.zip", "B*") == only.hexdigest()
    (tmp_path / "bad.zip").write_bytes(b"PK")
    (tmp_path / "bad.gz").write_bytes(gzip.compress(b"content")[:-9])
    for name in ("bad.zip", "bad.gz"):
        with pytest.raises(DataError, match="damaged"):
            content_digest(tmp_path / name)


def test_an_unpacked_archive_has_the_digest_that_is_expected_of_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with zipfile.ZipFile(tmp_path / "a" / "x.zip", "w") as archive:
        for name in ("sub/b", "a.dta"):
            archive.writestr(name, f"content of {name}")
    digest = content_digest(tmp_path / "a" / "x.zip")
    file = RawFile("a/x.zip", "origin", "terms", sha256=digest)
    assert raw_file_digests(tmp_path, file) == {"a/x.zip": digest}
    with zipfile.ZipFile(tmp_path / "a" / "x.zip") as archive:
        archive.extractall(tmp_path / "a" / "x")
    (tmp_path / "a" / "x.zip").unlink()
    assert raw_file_digests(tmp_path, file) == {"a/x.zip": digest}
    (tmp_path / "a" / "x" / "a.dta").write_text("another content")
    assert raw_file_digests(tmp_path, file)["a/x.zip"] != digest
    # Of an archive without an expected digest, every file that was unpacked has its own.
    loose = raw_file_digests(tmp_path, RawFile("a/x.zip", "origin", "terms"))
    assert list(loose) == ["a/x/a.dta", "a/x/sub/b"]
    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    assert raw_file_digests(tmp_path, file) == {}


def test_choices(tmp_path: Path) -> None:
    assert DataChoice.parse("build") == DataChoice("build")
    assert DataChoice.parse("behaviorbench=hub") == DataChoice("hub", "behaviorbench")
    folder = DataChoice.parse(f"behaviorbench={tmp_path}")
    assert (folder.suite, folder.folder) == ("behaviorbench", tmp_path)
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert DataChoice.parse(str(odd)).folder == odd
    with pytest.raises(DataError, match="neither a data kind nor an existing folder"):
        DataChoice.parse("biuld")
    some = [DataChoice("hub"), DataChoice("build", "s"), DataChoice("demo")]
    assert choose(some, "s", default="package").value == "build"
    assert choose(some, "t", default="package").value == "demo"
    assert choose([DataChoice("build", "s")], "t", default="package").value == "package"
