from __future__ import annotations

import csv
import io
import random

import pytest

from hbench.core import DataError
from hbench.data.ragged import check_cells

from .ragged import ragged

PLAIN = b"a,b,c\n1,2,3\n4,,6\n7,8,9\n"
QUOTED = b'a,"b,b",c\n1,"2,\n2",3\n"4","",6\n7,"8""8",9\n'


@pytest.mark.parametrize("data", [PLAIN, QUOTED, b"", b"a,b", b"a\n1\n\n2\n"])
def test_good_tables_pass_whatever_ends_their_lines(data: bytes) -> None:
    for good in (data, data.removesuffix(b"\n"), data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data):
        check_cells(good, "x.csv")
        check_cells(good.replace(b",", b"\t"), "x.csv", separator="\t")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("quote", [b"", b'"'])
def test_ragged_lines_are_named(end: bytes, quote: bytes) -> None:
    data = PLAIN.replace(b"\n", end).replace(b"7", quote + b"7" + quote).replace(b"4", quote + b"4" + quote)
    check_cells(data, "x.csv")
    for bad, said in ragged(data):
        with pytest.raises(DataError, match=r"^x\.csv" + said):
            check_cells(bad, "x.csv")


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b'a,b\n"1\n1",2\n\n3\n', 5, "1 cells under 2 column names"),
        (b'a,b,c\n1,x "p, q" y,2\n', 2, "4 cells under 3 column names"),
        (b'a,b\n1,2\n3,"4\n5,6\n', 3, "a quotation mark is not closed"),
        (b'a,b\n1,2\n"3,4\n5,6\n', 3, "1 cells under 2 column names"),
        (b'a,b\n1,2"\n3",4\n', 2, "the line is not valid: new-line character"),
        (b'a,b\n1,""2\n', 2, "the line is not valid: ',' expected after"),
        (b"a,b\n1,2\r3,4\n", 2, "3 cells under 2 column names"),
        (b"a,b\n1,2\n  \n", 3, "1 cells under 2 column names"),
        (b"\n\na,b\n1\n", 4, "1 cells under 2 column names"),
    ],
)
def test_what_else_is_refused(data: bytes, line: int, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        check_cells(data, "x.csv")
    assert caught.value.line == line


def test_marks_are_text_where_there_are_no_quotes() -> None:
    check_cells(b'a\tb\n1\t5" wide\n2\t"\n', "x.tsv", separator="\t", quotes=False)
    with pytest.raises(DataError, match="3 cells under 2 column names"):
        check_cells(b'a\tb\n"1\t2"\t3\n', "x.tsv", separator="\t", quotes=False)


def test_blank_lines_are_passed_over_unless_they_must_not_be() -> None:
    for data in (b"a,b\n1,2\n\n3,4\n\n", b"a,b\r\n1,2\r\n\r\n3,4\r\n\r\n", b'a,b\n"1",2\n\n3,4\n\n'):
        check_cells(data, "x.csv")
        with pytest.raises(DataError, match="3: 1 cells under 2 column names"):
            check_cells(data, "x.csv", blank_lines=False)


@pytest.mark.parametrize("width", [2, 256, 257, 300])
@pytest.mark.parametrize("more", [-256, -1, 1, 256, 512])
def test_counts_of_cells_do_not_wrap(width: int, more: int) -> None:
    """Sums are taken in one byte where it holds the wanted number of separators, and would be right by 256 cells."""
    if width + more < 1:
        return
    lines = [b"," * (width - 1)] * 4
    lines[2] = b"x" + b"," * (width - 1 + more)
    with pytest.raises(DataError, match=f"3: {width + more} cells under {width} column names"):
        check_cells(b"\n".join(lines), "x.csv")


def test_what_passes_reads_alike_by_polars_and_the_csv_module() -> None:
    pl = pytest.importorskip("polars")
    draw = random.Random(1)
    cells = ["z", "z", "z", "", '"b"', '"c,d"', '"e\nf"', '"g""h"', 'i"j', '"k"l', 'x "p, q"', 'i"']
    read = 0
    for _ in range(3000):
        width = draw.randrange(2, 5)
        rows = ["abcd"[:width], *(draw.choices(cells, k=width + (draw.random() < 0.05)) for _ in range(3))]
        data = draw.choice(["\n", "\r\n"]).join(map(",".join, rows))
        try:
            check_cells(data.encode(), "x.csv")
            got = pl.read_csv(data.encode(), infer_schema=False).fill_null("").rows()
        except (DataError, pl.exceptions.PolarsError):
            continue
        read += 1
        assert got == [tuple(row) for row in csv.reader(io.StringIO(data, newline=""))][1:]
    assert read > 100
