"""Archives may be hostile: none is extracted, and none is read beyond what it may hold."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from hbench.core import DataError
from hbench.data import raw_files
from hbench.data.files import content_digest
from hbench_householdbench.sources import archives
from hbench_householdbench.sources.archives import by_base_name, open_archive, open_package


def packed(path: Path, *members: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def test_members_are_found_by_base_name(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", ("diary90/", b""), ("diary90/FMLD901.CSV", b"x"), ("notes.txt", b"y"))
    with open_archive(path) as archive:
        assert archive.names == ("diary90/FMLD901.CSV", "notes.txt")
        assert archive.read(by_base_name(archive)["fmld901.csv"]) == b"x"
        with pytest.raises(DataError, match="no member 'b'"):
            archive.read("b")


@pytest.mark.parametrize("name", ["../x.csv", "/etc/x.csv", "a/../../x.csv", "..\\x.csv", "C:\\x.csv"])
def test_a_path_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", (name, b"x"))
    with pytest.raises(DataError, match="leads out of the archive"), open_archive(path):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = packed(tmp_path / "a.zip", ("x.csv", b"1"), ("x.csv", b"2"))
    with pytest.raises(DataError, match=r"'x\.csv' twice"), open_archive(path):
        pass
    other = packed(tmp_path / "b.zip", ("a/x.csv", b"1"), ("b/X.csv", b"2"))
    with open_archive(other) as archive, pytest.raises(DataError, match=r"'x\.csv' twice: a/x\.csv and b/X\.csv"):
        by_base_name(archive)


def test_a_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "a.zip", ("x.csv", bytes(archives.RATIO_FREE + 1)))
    with pytest.raises(DataError, match="-fold"), open_archive(path):
        pass
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 1000)
    with pytest.raises(DataError, match="expands beyond"), open_archive(path):
        pass
    monkeypatch.setattr("hbench.data.files._EXPANSION_FREE", 1000)
    with pytest.raises(DataError, match=r"would expand to 16,777,217 bytes"):
        content_digest(path)


@pytest.fixture(params=["isal", "zlib"])
def unpacker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "isal.igzip_lib", None)
    return name


@pytest.mark.usefixtures("unpacker")
def test_members_are_read_whole_with_any_unpacker(tmp_path: Path) -> None:
    text = b"NEWID,QINTRVYR\n" * 100_000
    path = packed(tmp_path / "a.zip", ("long.csv", text), ("empty.csv", b""))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("stored.csv", text)
    with open_archive(path) as opened:
        assert [opened.read(name) for name in opened.names] == [text, b"", text]


@pytest.mark.usefixtures("unpacker")
@pytest.mark.parametrize("declared", [0, 3])
def test_no_more_than_the_declared_size_is_unpacked(declared: int, tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", ("x.csv", bytes(1_000_000)))
    data = path.read_bytes()
    size = (1_000_000).to_bytes(4, "little")
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, declared.to_bytes(4, "little")))
    with open_archive(path) as archive:
        if declared:
            with pytest.raises(DataError, match=r"'x\.csv' is damaged: Bad CRC-32"):
                archive.read("x.csv")
        else:
            assert archive.read("x.csv") == b""


@pytest.mark.usefixtures("unpacker")
def test_damage_is_said(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", ("x.csv", b"some text that is long enough" * 9))
    data = bytearray(path.read_bytes())
    data[45] ^= 0xFF
    path.write_bytes(data)
    with open_archive(path) as archive, pytest.raises(DataError, match=r"'x\.csv' is damaged"):
        archive.read("x.csv")
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be opened"), open_archive(path):
        pass


def test_encryption_is_said(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", ("x.csv", b"text"))
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="encrypted"), open_archive(path):
        pass
    with pytest.raises(DataError, match="cannot be read"):
        content_digest(path)


def test_a_package_may_be_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", ("a/x.csv", b"1"), ("y.csv", b"2"))
    with open_package(path) as archive:
        packed_names = sorted(archive.names)
    folder = tmp_path / "a"
    zipfile.ZipFile(path).extractall(folder)
    with pytest.raises(DataError, match="twice, packed and unpacked"), open_package(path):
        pass
    assert raw_files(tmp_path, "*.zip") == [path]
    path.unlink()
    assert raw_files(tmp_path, "a.zip") == [folder / "a" / "x.csv", folder / "y.csv"]
    assert raw_files(tmp_path, "b.zip") == []
    with open_package(path) as unpacked:
        assert list(unpacked.names) == packed_names
        assert unpacked.read(by_base_name(unpacked)["x.csv"]) == b"1"
        with pytest.raises(DataError, match=r"no readable file 'z\.csv'"):
            unpacked.read("z.csv")
    with pytest.raises(DataError, match="cannot be opened"), open_package(tmp_path / "c.zip"):
        pass
