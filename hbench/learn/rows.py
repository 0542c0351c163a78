"""Rows of predictors, whatever holds them: records' mappings, a pandas or a polars data frame."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from hbench.core import DataError

Rows: TypeAlias = Any
"""Mappings from column to value, one a row; a pandas or polars data frame; a mapping from column to values; `Cells`."""

LARGEST = float(np.finfo(np.float32).max)
"""Trees compare numbers of 32 bits."""


@dataclass(frozen=True)
class Cells:
    """Rows as they were read.

    Attributes
    ----------
    numeric : float64 (n, p)
        NaN where missing.
    codes : int64 (n, q)
        Places in the vocabulary, -1 where missing.
    vocabulary : list of list of str
        The words of each categorical column in the order of their first row.
    """

    numeric: npt.NDArray[np.float64]
    codes: npt.NDArray[np.int64]
    vocabulary: list[list[str]]

    def __len__(self) -> int:
        return len(self.numeric)

    def take(self, chosen: npt.NDArray[np.bool_ | np.integer[Any]] | slice) -> Cells:
        """Return some of the rows, by a mask, by their places or by a slice."""
        return Cells(self.numeric[chosen], self.codes[chosen], self.vocabulary)


def read_cells(rows: Rows, *, numeric: Sequence[str], categorical: Sequence[str]) -> Cells:
    """Read the named columns of a frame, or of mappings, where an absent key is a missing value.

    Rows that were read before, by the same names, are taken as they are.

    Raises
    ------
    DataError
        A numeric column holds text or a number that is infinite in 32 bits, or a data frame lacks a column.
    """
    if isinstance(rows, Cells):
        return rows
    numbers, words = [_Numbers(name) for name in numeric], [_Words(name) for name in categorical]
    if hasattr(rows, "columns") or isinstance(rows, Mapping):
        length = _read_frame(rows, numbers, words)
    else:
        length = _read_rows(rows, numbers, words)
    return Cells(
        _side_by_side([column.checked() for column in numbers], length, np.dtype(np.float64)),
        _side_by_side([np.frombuffer(column.codes, np.int64) for column in words], length, np.dtype(np.int64)),
        [list(column.places) for column in words],
    )


def column_names(frame: Any) -> dict[str, Any]:
    """Return the columns of a data frame, or of a mapping, by their names as text.

    Raises
    ------
    DataError
        Two columns have one name.
    """
    names = list(frame.columns if hasattr(frame, "columns") else frame)
    known = {str(name): name for name in names}
    if len(known) < len(names):
        raise DataError("two columns of the data frame have one name", hint=f"Columns: {', '.join(map(str, names))}.")
    return known


def is_missing(value: Any) -> bool:
    """Tell whether there is no value: nothing, not a number, a missing value of pandas, or blank text."""
    return (
        value is None
        or (isinstance(value, float | np.floating) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
        # By name, so that nobody needs to import pandas.
        or type(value).__name__ in ("NAType", "NaTType")
    )


class _Numbers:
    """A numeric column, filled value by value so that no object is kept for each."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._values = array("d")
        self._whole: npt.NDArray[np.float64] | None = None

    def checked(self) -> npt.NDArray[np.float64]:
        values = np.frombuffer(self._values, np.float64) if self._whole is None else self._whole
        beyond = np.abs(values) > LARGEST
        if beyond.any():
            self._refuse(float(values[beyond][0]), "no learner takes such a number; clean the column")
        return values

    def take(self, column: Any) -> None:
        """Take a frame's column, at once where its type is a number's."""
        dtype = getattr(column, "dtype", None)
        if getattr(dtype, "kind", "") in tuple("fiub") or getattr(dtype, "is_numeric", bool)():
            self._whole = _array_of(column)
        else:
            for value in _list_of(column):
                self.add(value)

    def add(self, value: Any) -> None:
        if isinstance(value, bool | int | float | np.number | np.bool_):
            try:
                self._values.append(float(value))
            except OverflowError:  # a whole number of hundreds of digits
                self._values.append(math.inf)
        elif is_missing(value):
            self._values.append(math.nan)
        else:
            self._refuse(value, "declare it `kind: categorical`, or clean the column")

    def _refuse(self, value: Any, hint: str) -> NoReturn:
        raise DataError(f"the numeric predictor {self.name!r} holds {value!r}", hint=hint)


class _Words:
    """A categorical column: codes of its words in the order of their first row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes = array("q")
        self.places: dict[str, int] = {}
        self._known: dict[Any, int] = {}

    def take(self, column: Any) -> None:
        for value in _list_of(column):
            self.add(value)

    def add(self, value: Any) -> None:
        # 1 and True are one key of a dictionary but not one level; the type tells them apart.
        key = (value.__class__, value)
        code = self._known.get(key)
        if code is None:
            text = level(value)
            code = self._known[key] = -1 if text is None else self.places.setdefault(text, len(self.places))
        self.codes.append(code)


def level(value: Any) -> str | None:
    """Return the word of a categorical value, None where it is missing."""
    if is_missing(value):
        return None
    # 1 and 1.0 are one level: the same code read from CSV and from Parquet.
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _read_frame(frame: Any, numbers: Sequence[_Numbers], words: Sequence[_Words]) -> int:
    known = column_names(frame)
    columns: list[_Numbers | _Words] = [*numbers, *words]
    for column in columns:
        if column.name not in known:
            raise DataError(f"the data frame has no column {column.name!r}", hint=f"Columns: {', '.join(known)}.")
        column.take(frame[known[column.name]])
    return len(frame) if hasattr(frame, "columns") else max((len(frame[name]) for name in frame), default=0)


def _read_rows(rows: Iterable[Mapping[str, Any]], numbers: Sequence[_Numbers], words: Sequence[_Words]) -> int:
    columns: list[_Numbers | _Words] = [*numbers, *words]
    adders = [(column.name, column.add) for column in columns]
    length = 0
    for row in rows:
        length += 1
        for name, add in adders:
            add(row.get(name))
    return length


def _side_by_side(columns: Sequence[npt.NDArray[Any]], length: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    matrix = np.empty((length, len(columns)), dtype=dtype)
    for place, column in enumerate(columns):
        matrix[:, place] = column
    return matrix


def _array_of(column: Any) -> npt.NDArray[np.float64]:
    if hasattr(column, "array") and hasattr(column, "to_numpy"):  # pandas, whose nullable types know no NaN themselves
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=np.float64)


def _list_of(column: Any) -> Iterable[Any]:
    listed: Iterable[Any] = column.to_list() if hasattr(column, "to_list") else column
    return listed
