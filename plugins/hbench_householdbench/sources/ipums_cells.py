"""Cells of IPUMS extracts: from texts to numbers, counting those that are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hbench.core import BuildReport
from hbench_householdbench.sources.ipums_codebook import Field

if TYPE_CHECKING:
    import polars as pl

Types = Mapping[str, "type[pl.DataType]"]
"""Polars type by variable: whole numbers, floats, or texts."""


@dataclass
class OddCells:
    """Cells that are no number of their variable's type, and lines that are no record.

    Attributes
    ----------
    cells : dict
        How many, and the first of them, by variable.
    lines : int
        Lines with another number of cells than the header.
    line : str
        The first of those lines, in words.
    """

    cells: dict[str, tuple[int, str]] = field(default_factory=dict)
    lines: int = 0
    line: str = ""

    def tell(self, file: str, types: Types, report: BuildReport) -> None:
        """Report them."""
        for name, (count, example) in self.cells.items():
            report.problem(file, f"{name} is not {_kind(types[name])}", count, example, code=True)
        report.problem(file, "lines that have not as many cells as the header are left out", self.lines, self.line)


def parsed(batch: pl.DataFrame, types: Types, odd: OddCells, layout: Mapping[str, Field] | None = None) -> pl.DataFrame:
    """Turn texts into numbers; cells that are none become null and are counted in `odd`."""
    import polars as pl

    columns = []
    for name, dtype in types.items():
        text = batch[name].str.strip_chars()
        text = text.set(text == "", None)
        if dtype == pl.String:
            columns.append(text)
            continue
        decimals = layout[name].decimals if layout else 0
        values = text.cast(dtype, strict=False)
        if decimals or dtype.is_float() or values.null_count() > text.null_count():
            values = _numbers(text, decimals, whole=dtype.is_integer()).cast(dtype, strict=False)
            bad = batch[name].filter(values.is_null() & text.is_not_null())
            if len(bad):
                count, example = odd.cells.get(name, (0, bad[0]))
                odd.cells[name] = (count + len(bad), example)
        columns.append(values.alias(name))
    return pl.DataFrame(columns)


def _numbers(text: pl.Series, decimals: int, *, whole: bool) -> pl.Series:
    """Return finite floats; where `whole`, also 4.0 is a number, as pandas and R write it in columns with gaps."""
    import polars as pl

    floats = text.cast(pl.Float64, strict=False)
    floats = floats.set(~floats.is_finite(), None)
    if decimals:
        # numpy divides; polars would multiply by the reciprocal, and 4355.4000 become 4355.400000000001.
        floats = pl.Series(floats.to_numpy() / 10**decimals, nan_to_null=True)
    if whole:
        # A spreadsheet that writes 2.00101E+13 has lost the last digits.
        floats = floats.set((floats != floats.round()) | text.str.contains("[eE]"), None)
    return floats


def _kind(dtype: type[pl.DataType]) -> str:
    import polars as pl

    if not dtype.is_integer():
        return "a number"
    if dtype == pl.Int64:
        return "a whole number"
    low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)  # type: ignore[attr-defined]
    return f"a whole number from {low:,} to {high:,}"
