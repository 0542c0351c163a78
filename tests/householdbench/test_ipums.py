"""Extracts of IPUMS: csv and fixed width, whole and damaged, and the samples that ipumspy's source carries."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.ipums import find_extract

pl = pytest.importorskip("polars")

TYPES = {"A": pl.Int16, "W": pl.Float64, "T": pl.String}


def read(folder: Path, *, rows: int = 100_000) -> tuple[list[tuple[Any, ...]], BuildReport]:
    report = BuildReport()
    batches = list(find_extract(folder, "x").batches(TYPES, report=report, rows=rows))
    return pl.concat(batches).select("A", "W", "T").rows() if batches else [], report


def write(folder: Path, ending: str, data: bytes) -> None:
    path = folder / f"x{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("header", [b"A,W,T,Z\n", b"\xef\xbb\xbfa,w,t,z\r\n", b'"A","W","T","Z"\n'])
def test_csv(tmp_path: Path, ending: str, header: bytes) -> None:
    end = b"\r\n" if b"\r" in header else b"\n"
    write(tmp_path, ending, header + end.join((b"1,2.50,x,9", b",,,", b"-3,1e3,07,")) + end)
    rows, report = read(tmp_path)
    assert rows == [(1, 2.5, "x"), (None, None, None), (-3, 1000.0, "07")]
    assert report.problems == []


def test_cells_that_are_no_numbers_are_null_and_counted_wherever_they_are(tmp_path: Path) -> None:
    odd = {20: b"x,1,t", 25: b"40000,1,t", 30: b"1.5,y,t", 31: b"2.0,3,t"}
    lines = [odd.get(i, b"%d,%d,t" % (i, i)) for i in range(50)]
    write(tmp_path, ".csv", b"A,W,T\n" + b"\n".join(lines) + b"\n")
    rows, report = read(tmp_path, rows=7)
    assert [row[0] for row in rows] == [{20: None, 25: None, 30: None, 31: 2}.get(i, i) for i in range(50)]
    assert [row[1] for row in rows] == [{20: 1, 25: 1, 30: None, 31: 3}.get(i, i) for i in range(50)]
    assert [(p.what, p.rows, p.example) for p in report.problems] == [
        ("A is not a whole number from -32,768 to 32,767", 3, "x"),
        ("W is not a number", 1, "y"),
    ]


ODD_LINES = {10: b"7,8", 20: b"7,8,t,9", 30: b"", 31: b'"7","8","t, u"'}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_with_other_numbers_of_cells_are_left_out_and_counted(tmp_path: Path, end: bytes) -> None:
    """One cell too few and one too many in the same block are two odd lines; a comma in quotes is no cell's end."""
    lines = [b"A,W,T", *(ODD_LINES.get(i, b"%d,%d,t" % (i, i)) for i in range(2, 50))]
    write(tmp_path, ".csv.gz", end.join(lines))
    rows, report = read(tmp_path)
    left = [i for i in range(2, 50) if i not in (10, 20, 30)]
    assert rows == [(7, 8.0, "t, u") if i == 31 else (i, float(i), "t") for i in left]
    assert [(p.file, p.what, p.rows, p.example) for p in report.problems] == [
        ("x.csv.gz", "lines that have not as many cells as the header are left out", 3, "line 10 has 2 of 3 cells")
    ]


@pytest.mark.parametrize(
    "odd",
    [(b'7,"8,t', b'9",8,t'), (b'1"5,8,t',), (b'7,8"",t',), (b'7,"8"9,t',)],
    ids=["two lines", "one", "two", "behind"],
)
def test_lines_with_stray_quotation_marks_are_left_out_and_counted(odd: tuple[bytes, ...], tmp_path: Path) -> None:
    """Each has as many commas as it should, and a reader would join lines or lose cells."""
    write(tmp_path, ".csv", b"\n".join([b"A,W,T", b"1,1,t", *odd, b'2,2,"t"', b"3,3,t"]))
    rows, report = read(tmp_path)
    assert rows == [(i, float(i), "t") for i in (1, 2, 3)]
    assert [(p.rows, p.example) for p in report.problems] == [(len(odd), "line 3 has 0 of 3 cells")]


@pytest.mark.parametrize(("width", "more"), [(300, -256), (300, 256), (149, 256)])
def test_numbers_of_cells_are_not_counted_around_a_byte(width: int, more: int, tmp_path: Path) -> None:
    names = b",".join([b"A", b"W", b"T", *(b"X%d" % i for i in range(3, width))])
    good, bad = (b"1,2,t" + b",0" * (cells - 3) for cells in (width, width + more))
    write(tmp_path, ".csv", b"\n".join([names, good, bad, good]))
    rows, report = read(tmp_path)
    assert rows == [(1, 2.0, "t")] * 2
    assert report.problems[0].example == f"line 3 has {width + more} of {width} cells"


def test_an_odd_line_is_named_where_it_stands_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench_householdbench.sources.ipums_csv._BLOCK", 64)
    lines = [b"A,W,T", *(b"%d,%d,t" % (i, i) for i in range(2, 200))]
    lines[150] = b"1,2"
    write(tmp_path, ".csv", b"\n".join(lines))
    rows, report = read(tmp_path)
    assert [row[0] for row in rows] == [i for i in range(2, 200) if i != 151]
    assert report.problems[0].example == "line 151 has 2 of 3 cells"


def test_numbers_that_lost_their_digits_or_are_none_are_no_numbers(tmp_path: Path) -> None:
    """A spreadsheet writes long numbers as 2.00101E+13; "nan" and "inf" are texts."""
    cells = [b"2.00101E+13,nan", b"20010100000000.0,inf", b"20010112345601,1.5", b"1e2,\xff"]
    write(tmp_path, ".csv", b"A,W\n" + b"\n".join(cells) + b"\n")
    report = BuildReport()
    [batch] = find_extract(tmp_path, "x").batches({"A": pl.Int64, "W": pl.Float64}, report=report)
    assert batch.rows() == [(None, None), (20010100000000, None), (20010112345601, 1.5), (None, None)]
    assert [(p.what, p.rows) for p in report.problems] == [("A is not a whole number", 2), ("W is not a number", 3)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the first line is empty"),
        (b"A;W;T\n1;2;3\n", "with commas"),
        ("A,W,T\n1,2,3\n".encode("utf-16"), "UTF-8"),
        (b"A,W,T\n1,2,\xe9\n", None),
    ],
)
def test_other_separators_and_encodings(tmp_path: Path, data: bytes, said: str | None) -> None:
    write(tmp_path, ".csv", data)
    if said is None:
        assert read(tmp_path)[0] == [(1, 2.0, "\ufffd")]
        return
    with pytest.raises(DataError, match=said):
        read(tmp_path)


def test_without_isal_the_same_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"A,W,T\n" + b"".join(b"%d,%d,t\n" % (i % 999, i) for i in range(5_000))
    write(tmp_path, ".csv.gz", data)
    with_isal = read(tmp_path)[0]
    monkeypatch.setitem(sys.modules, "isal", None)
    monkeypatch.setitem(sys.modules, "isal.igzip_lib", None)
    assert read(tmp_path)[0] == with_isal
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(data)[:-8])
    with pytest.raises(DataError, match=r"cannot be read(.|\n)*Is the download complete"):
        read(tmp_path)


@pytest.mark.parametrize("cut", [8, 200])
def test_an_archive_that_was_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(b"A,W,T\n" + b"".join(b"%d,%d,t\n" % (i % 999, i) for i in range(50_000)))
    (tmp_path / "x.csv.gz").write_bytes(whole[:-cut])
    with pytest.raises(DataError, match=r"cannot be read(.|\n)*Is the download complete"):
        read(tmp_path)


def test_what_is_no_extract_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no extract"):
        find_extract(tmp_path, "x")
    write(tmp_path, ".csv", b"A,W,W,T\n")
    with pytest.raises(DataError, match="the header repeats W"):
        find_extract(tmp_path, "x")
    write(tmp_path, ".csv", b"A,T\n1,2\n")
    with pytest.raises(DataError, match="lacks 1 variables: W"):
        read(tmp_path)
    write(tmp_path, ".csv.gz", b"A,W,T\n")
    with pytest.raises(DataError, match="2 data files of one extract"):
        find_extract(tmp_path, "x")


CODEBOOK = """<?xml version="1.0"?><codeBook xmlns="ddi:codebook:2_5"><stdyDscr><citation><serStmt>
<serName abbr="CPS">CPS</serName><serInfo>i</serInfo></serStmt></citation><dataAccs><useStmt><citReq>c</citReq>
<conditions>c</conditions></useStmt></dataAccs></stdyDscr><fileDscr><fileTxt><fileName>x.dat</fileName>
<fileCont>c</fileCont><fileStrc type="{kind}"/><fileType charset="ISO-8859-1"/><format>f</format>
<filePlac>p</filePlac></fileTxt></fileDscr><dataDscr>{variables}</dataDscr></codeBook>"""
VARIABLE = """<var ID="{name}" name="{name}" dcml="{decimals}" intrvl="discrete"><location StartPos="{start}"
EndPos="{end}" width="{width}"/><labl>l</labl><txt>t</txt><concept>c</concept><varFormat type="{kind}"/></var>"""


def codebook(folder: Path, kind: str = "rectangular") -> None:
    fields = [("A", 1, 3, 0, "numeric"), ("T", 4, 5, 0, "character"), ("W", 6, 11, 4, "numeric")]
    variables = "".join(
        VARIABLE.format(name=name, start=start, end=end, width=end - start + 1, decimals=decimals, kind=form)
        for name, start, end, decimals, form in fields
    )
    (folder / "x.xml").write_text(CODEBOOK.format(kind=kind, variables=variables))


@pytest.mark.parametrize("ending", [".dat", ".dat.gz"])
def test_fixed_width(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("ipumspy")
    codebook(tmp_path)
    write(tmp_path, ending, b"001ab043554\n   \xe9 123456\n 12     x99\n-0400      \n")
    rows, report = read(tmp_path)
    # 4.3554 as it is printed: no reciprocal of the power of ten, which would leave 4.355400000000001.
    assert rows == [(1, 4.3554, "ab"), (None, 12.3456, "\ufffd"), (12, None, None), (-4, None, "00")]
    assert [(p.what, p.rows, p.example.strip()) for p in report.problems] == [("W is not a number", 1, "x99")]


def test_fixed_width_that_does_not_fit_its_codebook_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ipumspy")
    write(tmp_path, ".dat", b"001ab043554\n001ab04355\n")
    with pytest.raises(DataError, match="the codebook of the fixed-width extract is missing"):
        read(tmp_path)
    codebook(tmp_path)
    with pytest.raises(DataError, match=r"x\.dat:2: the line has 10 characters, the codebook says 11"):
        read(tmp_path)
    codebook(tmp_path, kind="hierarchical")
    with pytest.raises(DataError, match=r"hierarchical, not rectangular(.|\n)*ipums\.org"):
        read(tmp_path)
    (tmp_path / "x.xml").write_text("<html>Sign in</html>")
    with pytest.raises(DataError, match="no codebook"):
        read(tmp_path)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extracts among the tests of ipumspy, from its source distribution."""
    ipumspy = pytest.importorskip("ipumspy")
    folder = tmp_path_factory.mktemp("ipumspy")
    wanted = f"ipumspy=={ipumspy.__version__}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", wanted]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the source distribution of ipumspy cannot be fetched: {done.stderr.strip()[-200:]}")
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    [fixtures] = folder.glob("*/tests/fixtures")
    return fixtures


RECTANGULAR = {
    **{"atus_00034": (207_213, 13), "cps_00006": (7_668, 8), "cps_00361": (2_740, 12)},
    **{"meps_00019": (103_965, 23), "usa_00172": (33_057, 10), "usa_00196": (33_057, 10)},
}


@pytest.mark.slow
@pytest.mark.packaging
@pytest.mark.parametrize("name", RECTANGULAR)
def test_the_samples_of_ipumspy_are_read_as_ipumspy_reads_them(samples: Path, tmp_path: Path, name: str) -> None:
    from ipumspy import readers

    for ending in (".xml", ".dat.gz"):
        (tmp_path / f"{name}{ending}").write_bytes((samples / f"{name}{ending}").read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = readers.read_ipums_ddi(tmp_path / f"{name}.xml")
        expected = readers.read_microdata(book, tmp_path / f"{name}.dat.gz")
    extract, report = find_extract(tmp_path, name), BuildReport()
    types = {one.name: pl.String if one.python_type is str else pl.Float64 for one in book.data_description}
    table = pl.concat(extract.batches(types, report=report, rows=5_000))
    assert table.shape == expected.shape == RECTANGULAR[name]
    assert report.problems == []
    for column, dtype in types.items():
        if dtype == pl.String:
            texts = expected[column].astype(object).where(expected[column].notna(), None).tolist()
            assert table[column].to_list() == [text or None for text in texts], column
        else:
            numbers = pl.Series(expected[column].astype("float64").to_numpy(), nan_to_null=True)
            assert table[column].equals(numbers, check_names=False), column


@pytest.mark.slow
@pytest.mark.packaging
def test_the_csv_sample_equals_the_fixed_width_one(samples: Path, tmp_path: Path) -> None:
    name, tables = "cps_00006", []
    for endings in ((".xml", ".dat.gz"), (".csv.gz",)):
        folder = tmp_path / endings[-1]
        folder.mkdir()
        for ending in endings:
            (folder / f"{name}{ending}").write_bytes((samples / f"{name}{ending}").read_bytes())
        extract = find_extract(folder, name)
        types = dict.fromkeys(sorted(extract.columns), pl.Float64)
        tables.append(pl.concat(extract.batches(types, report=BuildReport())).select(sorted(types)))
    assert len(tables[0]) == 7_668
    assert tables[0].equals(tables[1])


@pytest.mark.slow
@pytest.mark.packaging
@pytest.mark.parametrize("name", ["atus_00035", "cps_00421", "meps_00045"])
def test_a_hierarchical_sample_is_refused(samples: Path, name: str) -> None:
    with pytest.raises(DataError, match="hierarchical, not rectangular"):
        find_extract(samples, name)


@pytest.mark.slow
@pytest.mark.packaging
def test_the_words_for_states_are_those_of_a_real_codebook(samples: Path) -> None:
    from hbench_householdbench.sources.cps_codes import LABELS
    from hbench_householdbench.sources.ipums_codebook import read_code_labels

    assert dict(LABELS["state"][1]) == read_code_labels(samples / "cps_00361.xml")["STATEFIP"]
