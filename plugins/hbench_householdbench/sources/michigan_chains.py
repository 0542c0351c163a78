"""Chains of interviews with the same person, by the numbers that the archive records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.core import BuildReport

if TYPE_CHECKING:
    import polars as pl


def link(rows: pl.DataFrame, *, report: BuildReport) -> pl.DataFrame:
    """Add the links of cases to earlier ones; `rows` are in the order of the file.

    A case names its predecessor by month (``DATEPR``) and the number in that month (``IDPREV``). Of cases that share
    month and number, the first is meant.

    Returns
    -------
    polars.DataFrame
        With ``panel_link_expected``, ``panel_link_ok``, ``prev_caseid``, ``months_since_prev``, and of `chains`
        ``panel_id``, ``panel_wave`` and ``panel_chain_cycle_flag``.
    """
    import polars as pl

    numbered = rows.filter(pl.col("ID").is_not_null())
    first = numbered.unique(["YYYYMM", "ID"], keep="first", maintain_order=True)
    report.problem(
        "micro/mich/mich.csv", "case that repeats the number (ID) of another in its month", len(numbered) - len(first)
    )
    keys = first.select(
        pl.col("YYYYMM").cast(pl.Int64).alias("DATEPR"),
        pl.col("ID").alias("IDPREV"),
        pl.col("CASEID").alias("prev_caseid"),
    )
    months = 12 * (pl.col("YYYYMM") // 100 - pl.col("DATEPR") // 100) + pl.col("YYYYMM") % 100 - pl.col("DATEPR") % 100
    expected = pl.col("DATEPR").is_not_null() & pl.col("IDPREV").is_not_null()
    rows = rows.join(keys, on=["DATEPR", "IDPREV"], how="left", maintain_order="left").with_columns(
        expected.alias("panel_link_expected"),
        (expected & pl.col("prev_caseid").is_not_null()).alias("panel_link_ok"),
        months.cast(pl.Int32).alias("months_since_prev"),
    )
    report.counts["michigan.links_expected"] = int(rows["panel_link_expected"].sum())
    report.counts["michigan.links_found"] = int(rows["panel_link_ok"].sum())
    roots, waves, cycles = chains(rows["CASEID"].to_list(), rows["prev_caseid"].to_list())
    report.counts["michigan.chains"] = len(set(roots))
    return rows.with_columns(
        pl.Series("panel_id", roots, pl.Int64),
        pl.Series("panel_wave", waves, pl.Int32),
        pl.Series("panel_chain_cycle_flag", cycles, pl.Boolean),
    )


def chains(cases: list[int], previous: list[int | None]) -> tuple[list[int], list[int], list[bool]]:
    """Return of every case the first case of its chain, its place in it (from 1), and whether it goes in circles.

    Cases are followed back in their order. Where a walk comes back to itself, all of its cases become chains of their
    own, and the case that it started from is flagged; a case that leads to one of them later continues its chain.
    """
    before = dict(zip(cases, previous, strict=True))
    root: dict[int, int] = {}
    wave: dict[int, int] = {}
    circular: set[int] = set()
    for case in cases:
        walk: dict[int, None] = {}
        at: int | None = case
        while at is not None and at not in root and at not in walk:
            walk[at] = None
            at = before[at]
        if at is not None and at in walk:
            circular.add(case)
            root.update(zip(walk, walk, strict=True))
            wave.update(dict.fromkeys(walk, 1))
            continue
        for one in reversed(walk):
            root[one], wave[one] = (one, 1) if at is None else (root[at], wave[at] + 1)
            at = one
    return [root[case] for case in cases], [wave[case] for case in cases], [case in circular for case in cases]
