"""Codebooks (DDI) of IPUMS extracts, read by ``ipumspy``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import DataError

if TYPE_CHECKING:
    from ipumspy.ddi import VariableDescription


@dataclass(frozen=True)
class Field:
    """Where a variable stands in a fixed-width line: from `start` (0 is the first character) up to before `end`.

    The last `decimals` digits stand after a decimal point that is not written.
    """

    start: int
    end: int
    decimals: int = 0


def read_codebook(path: Path) -> dict[str, Field]:
    """Return the fields that a codebook of IPUMS (DDI, ``.xml``) describes, by variable, through ``ipumspy``."""
    return {one.name.upper(): Field(one.start, one.end, one.shift or 0) for one in _described(path)}


def read_code_labels(path: Path) -> dict[str, dict[int, str]]:
    """Return the texts that a codebook of IPUMS gives to whole numbers, by variable."""
    return {
        one.name.upper(): {code: label for label, code in one.codes.items() if isinstance(code, int)}
        for one in _described(path)
    }


def _described(path: Path) -> Sequence[VariableDescription]:
    from xml.etree.ElementTree import ParseError

    try:
        from ipumspy import readers
    except ImportError as error:
        raise DataError(
            "fixed-width extracts are read with ipumspy, which is not installed",
            file=path,
            hint="pip install 'hbench[data]', or ask IPUMS for csv.",
        ) from error
    if not path.is_file():
        raise DataError(
            "the codebook of the fixed-width extract is missing",
            file=path,
            hint="Download the DDI codebook (.xml) beside the data, or ask IPUMS for csv.",
        )
    try:
        with warnings.catch_warnings():
            # The terms of use stand among the source's files; a warning a build would say no more.
            warnings.simplefilter("ignore")
            book = readers.read_ipums_ddi(path)
    except (ParseError, AttributeError, IndexError, KeyError, NotImplementedError, ValueError) as error:
        raise DataError(f"this is no codebook (DDI) of IPUMS: {error}", file=path) from error
    if book.file_description.structure != "rectangular":
        raise DataError(
            f"the extract is {book.file_description.structure}, not rectangular",
            file=path,
            hint="Change the extract's structure to rectangular (person) at ipums.org.",
        )
    variables: Sequence[VariableDescription] = book.data_description
    return variables
