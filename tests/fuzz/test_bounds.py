"""Files that would fill the memory or lead elsewhere are refused, or read without harm."""

from __future__ import annotations

import gzip
import io
import stat
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from hbench.core import DataError, ModelError
from hbench.data import read_records
from hbench.data.files import content_digest
from hbench.data.lines import LONGEST_LINE
from hbench.model.prediction_index import PredictionIndex
from hbench.model.sample_logs import archive
from hbench.model.sample_logs.archive import read_members

from .damage import crash


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LONGEST_LINE == 64 * 2**20
    monkeypatch.setattr("hbench.data.lines.LONGEST_LINE", 1 << 20)
    for suffix in (".jsonl", ".csv"):
        path = tmp_path / f"r{suffix}"
        path.write_bytes(b"user,assistant\n" * (suffix == ".csv") + b"x" * (30 << 20))
        tracemalloc.start()
        with pytest.raises(DataError, match="longer than 1 MiB") as raised:
            list(read_records(path, task="s/t"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert raised.value.line == 1 + (suffix == ".csv")
        assert peak < 8 << 20


def test_a_line_of_the_longest_length_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"user": "?", "assistant": "[1]"}\n'
    monkeypatch.setattr("hbench.data.lines.LONGEST_LINE", len(line))
    (tmp_path / "r.jsonl").write_bytes(2 * line)
    assert len(list(read_records(tmp_path / "r.jsonl", task="s/t"))) == 2


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.data.files._EXPANSION_FREE", 1 << 20)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(bytes(20 << 20)))
    with pytest.raises(DataError, match="expands to more than") as raised:
        content_digest(path)
    assert raised.value.file == str(path)


@pytest.mark.parametrize("rest", [b"garbage", b"\x1f\x8b\x08 but no more"], ids=["garbage", "half a header"])
def test_what_stands_behind_a_gzip_file_is_no_part_of_it(rest: bytes, tmp_path: Path) -> None:
    """Either refused or passed over, never taken for content."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n"))
    honest = content_digest(path)
    path.write_bytes(path.read_bytes() + rest)
    assert crash(lambda: _same(path, honest), path) is None


def _same(path: Path, digest: str) -> None:
    assert content_digest(path) == digest


def _zip(member: str, data: bytes, mode: int | None = None) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        info = zipfile.ZipInfo(member)
        info.compress_type = zipfile.ZIP_DEFLATED
        if mode is not None:
            info.external_attr = mode << 16
        packed.writestr(info, data)
    return stream.getvalue()


def test_a_log_s_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_LARGEST", 1 << 20)
    path = tmp_path / "a.eval"
    path.write_bytes(_zip("samples/1.json", bytes(2 << 20)))
    with pytest.raises(ModelError, match="unpacks to 2,097,152 bytes"):
        list(read_members(path, "samples/"))


def test_a_member_that_lies_about_its_size_is_not_read_beyond_it(tmp_path: Path) -> None:
    packed, path = bytearray(_zip("samples/1.json", bytes(4 << 20))), tmp_path / "a.eval"
    at = packed.index(b"PK\x01\x02") + 24  # the uncompressed size, in the central directory
    packed[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(packed)
    tracemalloc.start()
    with pytest.raises(ModelError, match="cannot be read"):
        list(read_members(path, "samples/"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_link_in_an_archive_is_the_text_that_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(_zip("samples/1.json", b"/etc/passwd", stat.S_IFLNK | 0o777))
    assert list(read_members(path, "samples/")) == [("samples/1.json", b"/etc/passwd")]
    assert [file.name for file in tmp_path.iterdir()] == ["a.eval"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "samples/../../x"])
def test_members_lead_nowhere(name: str, tmp_path: Path) -> None:
    """Nothing is unpacked, so that a name is a name."""
    path = tmp_path / "inner" / "a.eval"
    path.parent.mkdir()
    path.write_bytes(_zip(name, b"{}"))
    assert [member for member, _ in read_members(path, "")] == [name]
    assert [file.name for file in tmp_path.rglob("*")] == ["inner", "a.eval"]


def test_half_a_character_in_an_id_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"id": "p\\ud800", "prediction": "[1]"}\n')
    index = PredictionIndex([path], "s/t")
    record = SimpleNamespace(key="p\ud800", id="p\ud800", time=None, task="s/t")
    found = index.find(record, 0)  # type: ignore[arg-type]
    index.close()
    assert found is not None
    assert found["prediction"] == "[1]"


def test_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(_zip("x", b"1").replace(b"x", b"\0"))
    with pytest.raises(DataError) as raised:
        content_digest(path)
    assert raised.value.file == str(path)
