"""Analyses: each a function from a comparison to a tidy table, a list of rows with documented columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hbench.core import SelectionError
from hbench.report.table import Column, Table, figure
from hbench.report.writers import Document

if TYPE_CHECKING:
    import pandas as pd

    from hbench.report.comparison import Comparison, View

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis by its name.

    Attributes
    ----------
    target : str
        ``module:function`` below this package; called with a comparison and a view.
    title : str
        What it shows.
    hidden : tuple of str
        Columns that tables for people leave out.
    """

    target: str
    title: str
    hidden: tuple[str, ...] = ()


ANALYSES: dict[str, Analysis] = {
    "leaderboard": Analysis("boards:ranks", "Ranks by topic and overall, averages by kind (HouseholdBench, Table 3)"),
    "pairs": Analysis("boards:pairs", "All pairs of models: difference, P(better), Holm-adjusted p, rows needed"),
    "gains": Analysis("gains:gains", "Gain over no change, baseline against policy tasks (HouseholdBench, Figure 2)"),
    "bias": Analysis("bias:signed_errors", "Signed relative mean error of numbers (HouseholdBench, Figure 3, left)"),
    "majority": Analysis("bias:majority_shares", "Share of majority-class answers (HouseholdBench, Figure 3, right)"),
    "persistence": Analysis("persistence:persistence", "TV difference on unchanged, changed, all reports (D1)"),
    "cutoff": Analysis("cutoff:cutoff", "Matched comparison before and after the cutoff, by release date (D2)"),
    "time": Analysis("over_time:over_time", "Score over release time (D3)"),
    "draws": Analysis("draws:draws", "K = 1, 2, 4, 8, 16 draws aggregated, all disjoint groups (F1)"),
    "confusion": Analysis("confusion:confusion", "Confusion matrices of classes"),
    "calibration": Analysis("calibration:calibration", "Predicted against true probabilities, bin by bin"),
    "subgroups": Analysis("subgroups:subgroups", "Headline score by age, income, education, race, sex"),
    "invalid": Analysis("invalid:invalid", "Invalid answers by reason, with the first of each"),
    "cost": Analysis("cost:cost", "Scores against tokens and cost"),
    "sections": Analysis("sections:sections", "What each section of the prompt is worth to each model"),
}


def find(name: str) -> Analysis:
    """Return an analysis. Raises `SelectionError`, naming the nearest, where there is none."""
    if name not in ANALYSES:
        from hbench.spec import suggestion

        raise SelectionError(f"there is no analysis {name!r}", hint=suggestion(name, list(ANALYSES)) or None)
    return ANALYSES[name]


def analyse(name: str, comparison: Comparison, view: View, **options: Any) -> list[Row]:
    """Run an analysis by its name.

    Parameters
    ----------
    name, comparison, view
        Which analysis, of what, looked at how.
    **options
        The analysis's own, as ``since="2026-07-01"`` of ``cutoff``.

    Returns
    -------
    list of dict
        Rows with the columns that the analysis documents; numbers that are not finite are None.

    Raises
    ------
    SelectionError
        For an analysis or an option that is not there.
    """
    function = _function(name)
    known = options_of(name)
    for option in options:
        if option not in known:
            raise SelectionError(
                f"the analysis {name} has no option {option!r}", hint=f"Options: {', '.join(known) or 'none'}."
            )
    rows: list[Row] = function(comparison, view, **options)
    return rows


def options_of(name: str) -> dict[str, Any]:
    """Return an analysis's options with their defaults."""
    from inspect import signature

    return {p.name: p.default for p in signature(_function(name)).parameters.values() if p.kind is p.KEYWORD_ONLY}


def _function(name: str) -> Any:
    module, _, function = find(name).target.partition(":")
    return getattr(import_module(f"hbench.report.analyses.{module}"), function)


def as_document(name: str, rows: Sequence[Row], comparison: Comparison, view: View) -> Document:
    """Return an analysis's rows as a document."""
    from hbench.report.notes import notes
    from hbench.report.present import settings

    about = find(name)
    table = as_table(about.title, rows, about.hidden)
    said = [*notes(comparison.results), *comparison.notes, view.described(), *view.exceptions(name)]
    if not rows:
        said.insert(0, f"{name}: these runs hold nothing that this analysis could look at")
    return Document([table], list(rows), list(dict.fromkeys(said)), {"analysis": name, "settings": settings(view)})


def as_table(title: str, rows: Sequence[Row], hidden: Sequence[str] = (), *, keep: bool = False) -> Table:
    """Return rows as a table; a suite or split that is the same in every row is left out, unless `keep`."""
    names = [name for name in (rows[0] if rows else {}) if name not in hidden]
    names = [n for n in names if keep or n not in ("suite", "split") or len({row[n] for row in rows}) > 1]
    numeric = {n: any(isinstance(row[n], int | float) for row in rows) for n in names}
    table = Table(title, [Column(n.replace("_", " "), "right" if numeric[n] else "left") for n in names])
    for row in rows:
        table.add([_cell(row[n]) for n in names])
    return table


def to_pandas(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a data frame. Raises `SelectionError` where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError as error:
        raise SelectionError("data frames need pandas", hint="pip install 'hbench[data]'") from error
    return pd.DataFrame(list(rows))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return figure(value) if isinstance(value, float) else str(value)
