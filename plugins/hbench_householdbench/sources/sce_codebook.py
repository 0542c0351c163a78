"""Codebook sheets in the workbooks of the Survey of Consumer Expectations: what the codes of a question mean."""

from __future__ import annotations

from typing import Any

from hbench.core import DataError
from hbench_householdbench.sources.sce_workbook import Workbook

Codebook = dict[str, dict[int, str]]
"""Label by code, by the question's name in lower case, since a name's case differs between sheets."""


def read_codebook(book: Workbook, sheet: str) -> Codebook:
    """Return the labels of all questions that have codes.

    A question's name stands beside its description, below it each code beside its meaning, and an empty row ends it.
    The sheets differ in how many empty cells come first. A line on the range of a number (`0 to 75`) is no code.

    Raises
    ------
    DataError
        There is no such sheet, or a question gives one code two meanings.
    """
    labels: Codebook = {}
    question: str | None = None
    for row in book.rows(sheet):
        cells = [text for cell in row if (text := _text(cell))]
        if len(cells) < 2:
            question = None
            continue
        code = _code(cells[0])
        if question is None and code is None:
            question = cells[0].lower()
        elif question is not None and code is not None:
            meanings = labels.setdefault(question, {})
            if meanings.setdefault(code, cells[1]) != cells[1]:
                raise DataError(
                    f"the code {code} of {question} has two meanings: {meanings[code]!r} and {cells[1]!r}",
                    file=f"{book.path.name}, sheet {sheet}",
                )
    return labels


def labels_of(codebook: Codebook, question: str, *, file: str) -> dict[int, str]:
    """Return a question's labels; a `DataError` naming the sheet where it has none."""
    found = codebook.get(question.lower())
    if not found:
        raise DataError(
            f"the codebook gives no meaning to the codes of {question}", file=file, hint="Download the workbook again."
        )
    return found


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _code(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdecimal() else None
