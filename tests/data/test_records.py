from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.core import DataError, Message, Record
from hbench.data import read_records, write_records

ROW = {
    "id": "70102645",
    "time": "2019-12-01",
    "release_date": "2020-09-01",
    "system": "You are …",
    "user": "How much?\nAnswer [v_1]",
    "assistant": "[-2.0]",
    "naive_baseline": "[1.5]",
}


def lines(*rows: Any) -> bytes:
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def test_the_seven_keys(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(ROW, b"", b"  ", {**ROW, "time": "2020-01-01"}))
    first, second = read_records(file, task="householdbench/cons_sce_growth")
    assert first == Record(
        task="householdbench/cons_sce_growth",
        id="70102645",
        time="2019-12-01",
        release_date="2020-09-01",
        messages=(Message("system", "You are …"), Message("user", "How much?\nAnswer [v_1]")),
        gold="[-2.0]",
        naive="[1.5]",
    )
    assert second.key == "70102645@2020-01-01"
    write_records(tmp_path / "b.jsonl", [first])
    assert (tmp_path / "b.jsonl").read_text() == json.dumps(ROW) + "\n"


def test_rows_without_an_id_are_named_by_their_line(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    metadata = {"user_id": "12345", "other_players_choices": [1.5, 2]}
    file.write_bytes(
        lines(
            {"system": "s", "user": "u", "assistant": "[14]", "metadata": metadata},
            b"",
            {"system": "", "user": "v", "assistant": "B", "journal": "aer"},
        )
    )
    first, second = read_records(file, task="behaviorbench/x")
    assert (first.id, first.gold, first.metadata) == ("test.jsonl:1", "[14]", metadata)
    assert (second.id, second.messages, second.metadata) == (
        "test.jsonl:3",
        (Message("user", "v"),),
        {"journal": "aer"},
    )


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (lines(ROW) + b'{"id": "2", "ti', 2, "the last line is truncated"),
        (b"\xef\xbb\xbf" + lines(ROW), 1, "byte-order mark"),
        ("x".encode("utf-16"), 1, "byte-order mark"),
        (lines(ROW, b'{"id": "\0"}'), 2, "NUL byte"),
        (lines(ROW, '{"user": "é"}'.encode("latin-1")), 2, "not UTF-8"),
        (lines(ROW, b"{nonsense}"), 2, "not valid JSON"),
        (lines([ROW]), 1, "holds a list, not an object"),
        (lines(b'{"id": "1", "id": "2", "user": "u", "assistant": "x"}'), 1, "'id' is repeated"),
        (lines(b'{"id": "1", "user": "u", "assistant": NaN}'), 1, "NaN is not a number"),
        (lines(b"[" * 100_000), 1, "not valid JSON"),
        (lines(b'{"weight": ' + b"1" * 5000 + b"}"), 1, "not valid JSON"),
        (lines(ROW, ROW), 2, "occurs twice, first on line 1"),
        (lines({**ROW, "asistant": 1}), 1, "unknown key 'asistant'"),
        (lines({k: v for k, v in ROW.items() if k != "assistant"}), 1, "'assistant' .* is missing"),
        (lines({k: v for k, v in ROW.items() if k != "id"}), 1, "'id' is missing"),
        (lines({**ROW, "id": ""}), 1, "'id' is empty"),
        (lines({**ROW, "id": 1.5}), 1, "'id' is a float"),
        (lines({**ROW, "release_date": "2020-9-1"}), 1, "not a date"),
        (lines({**ROW, "release_date": "2020-02-30"}), 1, "not a date"),
        (lines({**ROW, "user": ""}), 1, "neither a text 'user' nor 'predictors'"),
        (lines({**ROW, "user": ["a"]}), 1, "'user' is a list"),
        (lines({**ROW, "weight": -1}), 1, "'weight' is -1"),
        (lines({**ROW, "weight": True}), 1, "'weight' is True"),
        (lines({**ROW, "metadata": "x"}), 1, "'metadata' is a str"),
        (lines({**ROW, "messages": []}), 1, "not both"),
        (lines({"id": "1", "assistant": "1", "messages": [{"role": "boss", "content": "x"}]}), 1, "every message"),
    ],
)
def test_whatever_is_wrong_is_named_with_its_line(tmp_path: Path, content: bytes, line: int, message: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        list(read_records(file, task="s/t"))
    assert (error.value.file, error.value.line) == (str(file), line)


def test_equal_hashes_alone_make_no_repetition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.data.records.HashSet.add", lambda self, value: False)
    file = tmp_path / "a.jsonl"
    rows = [{**ROW, "time": f"20{year}-01-01"} for year in range(10, 15)]
    file.write_bytes(lines(*rows))
    assert [record.time for record in read_records(file, task="s/t")] == [row["time"] for row in rows]
    file.write_bytes(lines(*rows, b"", rows[2]))
    with pytest.raises(DataError, match="first on line 3") as error:
        list(read_records(file, task="s/t"))
    assert error.value.line == 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1\x15", "is a Parquet file"),
        (b"\x1f\x8b\x08", r"compressed \(gzip\)"),
        (b"PK\x03\x04\0", "is a zip archive"),
    ],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_files_of_other_formats_are_named(tmp_path: Path, suffix: str, content: bytes, message: str) -> None:
    file = tmp_path / f"bad{suffix}"
    file.write_bytes(content)
    with pytest.raises(DataError, match=f"{message}, and its name says {suffix}"):
        list(read_records(file, task="s/t"))


def test_a_complete_last_line_needs_no_newline(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(ROW).rstrip(b"\n"))
    assert len(list(read_records(file, task="s/t"))) == 1


def test_absent_and_unknown_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        with pytest.raises(DataError, match="no such file"):
            list(read_records(tmp_path / name, task="s/t"))
    with pytest.raises(DataError, match=r"\.xlsx"):
        list(read_records(tmp_path / "a.xlsx", task="s/t"))
    assert not list(tmp_path.iterdir())


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(st.none(), texts, st.integers(-(2**53), 2**53), numbers, st.booleans())
records = st.builds(
    Record,
    task=st.just("s/t"),
    id=texts,
    time=st.one_of(st.none(), texts),
    release_date=st.one_of(st.none(), st.dates().map(str)),
    messages=st.one_of(
        st.tuples(st.builds(Message, st.just("user"), texts)),
        st.tuples(st.builds(Message, st.just("system"), texts), st.builds(Message, st.just("user"), texts)),
        st.tuples(*[st.builds(Message, st.just(role), texts) for role in ("system", "user", "assistant", "user")]),
    ),
    gold=texts,
    naive=st.one_of(st.none(), texts),
    group=st.one_of(st.none(), texts),
    cluster=st.one_of(st.none(), texts),
    weight=st.one_of(st.just(1.0), st.floats(0, 1e6)),
    predictors=st.dictionaries(texts, values, max_size=3),
    metadata=st.dictionaries(texts.filter(lambda key: key != "journal"), values, max_size=3),
)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
@given(data=st.lists(records, max_size=4, unique_by=lambda r: (r.id, r.time)))
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read(suffix: str, data: list[Record], tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("records") / f"r.{suffix}"
    data = [
        replace(r, metadata={**r.metadata, "split": "train"})
        if r.group
        else replace(r, metadata={k: v for k, v in r.metadata.items() if k != "split"})
        for r in data
    ]
    assert write_records(file, data) == len(data)
    assert list(read_records(file, task="s/t")) == data


def test_numpy_values_are_written_as_what_they_are(tmp_path: Path) -> None:
    record = Record(
        "s/t", "1", gold=np.int64(3), predictors={"x": np.float64(1.5), "y": float("nan")}, metadata={"v": np.arange(2)}
    )
    write_records(tmp_path / "a.jsonl", [record])
    (back,) = read_records(tmp_path / "a.jsonl", task="s/t")
    assert (back.gold, back.predictors, back.metadata) == (3, {"x": 1.5, "y": None}, {"v": [0, 1]})


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    good = Record("s/t", "1", messages=(Message("user", "u"),), gold="1")
    write_records(file, [good])
    before = file.read_bytes()
    for bad, message in (
        ([good, good], "twice"),
        ([good, replace(good, id="2", gold=float("inf"))], "cannot be written"),
    ):
        with pytest.raises(DataError, match=message):
            write_records(file, bad)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id,user,assistant\n1,u\n", "2 cells under 3"),
        (b"id,id,assistant\n", "name is repeated"),
        (b"", "empty"),
        (b'id,user,assistant\n1,"u,x', "not valid CSV"),
        (b"id,user,assistant,weight\n1,u,x,heavy\n", "not a number"),
        (b"id,user,assistant,metadata\n1,u,x,{\n", "not valid JSON"),
        (b"\xef\xbb\xbfid,user,assistant\n", "byte-order mark"),
    ],
)
def test_malformed_csv(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_records(file, task="s/t"))


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    write_records(file, [Record("s/t", "1", messages=(Message("user", "u"),), gold="1")])
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        list(read_records(file, task="s/t"))


def test_json_lines_need_the_small_core_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines(ROW))
    code = (
        "import sys; from hbench.data import read_records, open_data, Store\n"
        f"assert len(list(read_records({str(file)!r}, task='s/t'))) == 1\n"
        "heavy = {'pandas', 'polars', 'pyarrow', 'datasets', 'duckdb'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
