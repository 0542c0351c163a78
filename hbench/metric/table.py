"""Rows in columns, so that a hundred thousand of them take little memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import repeat
from operator import attrgetter
from typing import Any, Literal, Protocol, cast, overload

from hbench.core import Values
from hbench.metric.rows import ScoredRow


def column(rows: Sequence[ScoredRow], name: str) -> Iterable[Any]:
    """Return one attribute of all rows."""
    return rows.column(name) if isinstance(rows, RowTable) else map(attrgetter(name), rows)


def values_of(rows: Sequence[ScoredRow], name: Literal["prediction", "gold", "naive"], index: int) -> Sequence[Any]:
    """Return one target's values in all rows, None where a row has none."""
    if isinstance(rows, RowTable):
        return rows.answers[name].values(index)
    return [None if values is None else values[index] for values in column(rows, name)]


class RowTable(Sequence[ScoredRow]):
    """Rows that are made when they are looked at: some sixty bytes each, where a row as an object takes 300.

    Parameters
    ----------
    rows : iterable of ScoredRow
        Are taken one by one.
    targets : int
        Values of an answer.
    """

    def __init__(self, rows: Iterable[ScoredRow], *, targets: int) -> None:
        self.answers = {name: _Answers(targets) for name in ("prediction", "gold", "naive")}
        self._columns: dict[str, _Column] = {item.name: _Objects() for item in fields(ScoredRow)}
        self._columns |= {"record_key": _Texts(), **self.answers}
        appends = [(attrgetter(name), kept.append) for name, kept in self._columns.items()]
        self._length = 0
        for row in rows:
            for get, append in appends:
                append(get(row))
            self._length += 1

    def column(self, name: str) -> Iterable[Any]:
        """Return one attribute of all rows."""
        return self._columns[name]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[ScoredRow]:
        return map(ScoredRow, *self._columns.values())

    @overload
    def __getitem__(self, index: int) -> ScoredRow: ...

    @overload
    def __getitem__(self, index: slice) -> list[ScoredRow]: ...

    def __getitem__(self, index: int | slice) -> ScoredRow | list[ScoredRow]:
        places = range(self._length)[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        return ScoredRow(*(kept[places] for kept in self._columns.values()))


class _Column(Protocol):
    def append(self, value: Any, /) -> None: ...

    def __getitem__(self, index: int, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class _Objects:
    """Any values; as long as all are the same object, it is kept once."""

    def __init__(self) -> None:
        self._same: Any = None
        self._count = 0
        self._values: list[Any] | None = None

    def append(self, value: Any) -> None:
        if self._values is not None:
            self._values.append(value)
        elif self._count and value is not self._same:
            self._values = [*repeat(self._same, self._count), value]
        else:
            self._same = value
            self._count += 1

    def __getitem__(self, index: int) -> Any:
        return self._same if self._values is None else self._values[index]

    def __iter__(self) -> Iterator[Any]:
        return repeat(self._same, self._count) if self._values is None else iter(self._values)


class _Texts:
    """Texts, end to end in one block of bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q", [0])

    def append(self, value: str) -> None:
        self._bytes += value.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __getitem__(self, index: int) -> str:
        return self._bytes[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self._ends) - 1))


class _Answers:
    """Tuples of numbers, end to end, with NaN where there is no tuple; from the first other value on, any values."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._numbers = array("d")
        self._gaps = False
        self._others: list[Any] | None = None

    def append(self, values: Values | None) -> None:
        if self._others is None and not self._takes(values):
            self._others = list(self)
        if self._others is not None:
            self._others.append(values)
        elif values is None:
            self._gaps = True
            self._numbers.extend(repeat(math.nan, self._width))
        else:
            self._numbers.extend(cast("tuple[float, ...]", values))

    def _takes(self, values: Values | None) -> bool:
        return values is None or (len(values) == self._width and all(type(v) is float and v == v for v in values))

    def values(self, index: int) -> Sequence[Any]:
        """Return each tuple's value at a place, or None."""
        if self._others is None and not self._gaps:
            return self._numbers[index :: self._width]
        return [None if values is None else values[index] for values in self]

    def __getitem__(self, index: int) -> Any:
        if self._others is not None:
            return self._others[index]
        return _known(tuple(self._numbers[index * self._width : (index + 1) * self._width]))

    def __iter__(self) -> Iterator[Any]:
        if self._others is not None:
            return iter(self._others)
        return map(_known, zip(*[iter(self._numbers)] * self._width, strict=True))


def _known(values: tuple[float, ...]) -> tuple[float, ...] | None:
    return None if math.isnan(values[0]) else values
