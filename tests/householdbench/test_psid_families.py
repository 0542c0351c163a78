"""The steps of the tasks on families and earners: what came before and after an interview."""

from __future__ import annotations

from typing import Any

import pytest

from hbench.plugin import default_registry
from hbench_householdbench.sources.psid_layout import LABELS, WAVES
from tests.householdbench.psid import context, run, synthetic

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

YEARS = (1995, 1996, 1997, 1999, 2003, 2005)
PARTNERED = LABELS["fam_partnered"]


def family(**columns: Any) -> Any:
    """One person's interviews of `YEARS`, which leave out that of 2001."""
    n = len(YEARS)
    table = {
        "id": [4001] * n,
        "year": pl.Series(YEARS, dtype=pl.Int32),
        "release_date": [f"{year}-12-31" for year in YEARS],
        "amount": [float(10 * place) for place in range(n)],
        **columns,
    }
    return pl.DataFrame(table)


def step(name: str, table: Any, task: str = "cons_psid_wealth", **params: Any) -> tuple[Any, list[tuple[str, int]]]:
    knows = context(task, {"psid_family": table, "psid_person": table})
    function = default_registry().get("step", name, suite="householdbench")
    return function(table.lazy(), knows, **params).collect(), knows.details


def test_a_history_is_of_waves_in_a_row() -> None:
    table, dropped = step("psid_history", family(), columns=["amount"], waves=3)
    assert table["history_lag1_amount"].to_list() == [None, 0, 10, 20, None, 40]
    assert table["history_lag2_amount"].to_list() == [None, None, 0, 10, None, None]
    assert table["history_lag3_amount"].to_list() == [None, None, None, 0, None, None]
    assert table["history_lag1_years_ago"].to_list() == [None, 1, 1, 2, None, 2]
    assert table["history_lag3_years_ago"].to_list() == [None, None, None, 4, None, None]
    assert dropped == []


def test_a_history_does_not_cross_a_gap() -> None:
    """Two waves back there is an interview, but none in between."""
    table = family().filter(pl.col("year") != 1996)
    found, _ = step("psid_history", table, columns=["amount"], waves=2)
    assert found.filter(pl.col("year") == 1997)["history_lag2_amount"].to_list() == [None]


def test_a_history_looks_back_beyond_the_rows_that_are_left() -> None:
    table = family()
    knows = context("cons_psid_wealth", {"psid_family": table})
    function = default_registry().get("step", "psid_history", suite="householdbench")
    found = function(table.filter(pl.col("year") == 1997).lazy(), knows, columns=["amount"], waves=2).collect()
    assert found["history_lag2_amount"].to_list() == [0]


def test_the_next_wave_is_the_next_scheduled_one() -> None:
    table, dropped = step("psid_next_wave", family(), columns={"amount": "later"})
    assert table["year"].to_list() == [1995, 1996, 1997, 2003]
    assert table["later"].to_list() == [10, 20, 30, 50]
    assert table["forecast_horizon_years"].to_list() == [1, 1, 2, 2]
    assert table["release_date"].to_list() == ["1996-12-31", "1997-12-31", "1999-12-31", "2005-12-31"]
    assert dropped == [("the person has no interview at the next wave", 2)]


def test_later_amounts_are_rounded_half_to_even() -> None:
    table = family(amount=[0.0, 0.5, 1.5, 2.5, -0.5, None])
    found, _ = step("psid_next_wave", table, columns={"amount": "later"}, whole=True)
    assert found["later"].to_list() == [0, 2, 2, None]


def test_years_ahead_are_exact() -> None:
    table = family()
    table = pl.concat([table, table.with_columns(pl.lit(4002, pl.Int64).alias("id")).filter(pl.col("year") < 2000)])
    found, dropped = step("psid_years_ahead", table, "income_psid_earnings", column="amount", years=[2, 4, 10])
    # Of 1995 there are 1997, 1999 and 2005; of 1997 there is 1999, and 2001 is missing.
    assert found.select("id", "year", "amount_2y", "amount_4y", "amount_10y").rows() == [(4001, 1995, 20, 30, 50)]
    assert found["release_date"].to_list() == ["2005-12-31"]
    assert dict(dropped) == {
        "the person has no interview 2 years later": 5,
        "the person has no interview 4 years later": 7,
        "the person has no interview 10 years later": 9,
    }


def test_changes_are_against_the_wave_before() -> None:
    partnered = [PARTNERED[code] for code in (0, 1, 1, 0, 1, 1)]
    table = family(fam_size=[2.0, 3.0, None, 3.0, 1.0, 4.0], fam_partnered=partnered)
    found, _ = step("psid_changes", table, columns={"fam_size": "more", "fam_partnered": "found"})
    assert found["more"].to_list() == [None, 1, None, None, None, 3]
    assert found["found"].to_list() == [None, 1, 0, -1, None, 0]


def test_owners_by_the_next_wave() -> None:
    labels = [*LABELS["home_stat"].values(), None]
    table = pl.DataFrame({"home_stat_next_wave": labels})
    found, _ = step("psid_becomes_owner", table, "house_psid_owner")
    assert found["becomes_owner_next_wave"].to_list() == ["yes", "no", "no", None]


def test_other_waves_are_trimmed_by_their_own_quantiles() -> None:
    """Amounts are 0 to 100 in 1995 and 1000 to 1100 in 1996; one of the history may be missing, one to come may not."""
    n = 101
    table = pl.DataFrame(
        {
            "id": [*range(n), *range(n)],
            "year": pl.Series([1995] * n + [1996] * n, dtype=pl.Int32),
            "amount": [*map(float, range(n)), *map(float, range(1000, 1000 + n))],
        }
    )
    rows = pl.DataFrame(
        {
            "year": pl.Series([1996] * 4, dtype=pl.Int32),
            "forecast_horizon_years": [-1] * 4,
            "later": [1.0, 1.5, None, 98.5],
            "history_lag1_years_ago": [1, 1, 1, None],
            "history_lag1_amount": [50.0, 98.5, 50.0, None],
        }
    )
    knows = context("cons_psid_wealth", {"psid_family": table})
    function = default_registry().get("step", "psid_trim_other_waves", suite="householdbench")
    params = {"next": {"amount": "later"}, "history": ["amount"], "waves": 1, "lower": 0.01, "upper": 0.99}
    left = function(rows.lazy(), knows, **params).collect()
    assert left["later"].to_list() == [1.5, 98.5]
    rows = rows.with_columns(later=pl.lit(50.0), history_lag1_amount=pl.Series([99.0, 98.5, 1.0, None]))
    left = function(rows.lazy(), knows, **params).collect()
    assert left["history_lag1_amount"].to_list() == [98.5, None]


def expected(name: str) -> Any:
    """A task's rows by the fact sheet, in plain pandas."""
    tables = synthetic()[0]
    table = tables["psid_person" if name == "income_psid_earnings" else "psid_family"].to_pandas()
    place = {year: at for at, year in enumerate(WAVES)}
    table["wave"] = table.year.map(place)

    def at(shift: int, column: str) -> Any:
        """The column of the same person so many waves later."""
        other = table.set_index(["id", "wave"])[column]
        return other.reindex(pd.MultiIndex.from_arrays([table.id, table.wave + shift])).set_axis(table.index)

    def years(shift: int, column: str) -> Any:
        other = table.set_index(["id", "year"])[column]
        return other.reindex(pd.MultiIndex.from_arrays([table.id, table.year + shift])).set_axis(table.index)

    def inside(values: Any, wave: Any, column: str) -> Any:
        cut = table.groupby("year")[column].quantile([0.01, 0.99]).unstack().reindex(wave).set_axis(table.index)
        return (values > cut[0.01]) & (values < cut[0.99])

    good = table[["demo_age_gen", "demo_sex", "race_eth_maj_col", "geo_region", "fam_partnered"]].notna().all(axis=1)
    if name == "cons_psid_wealth":
        trimmed, income = ["finc_tot_nd", "wlth_tot_net_nd"], "finc_tot_nd"
        target = at(1, "wlth_tot_net_nd").round()
        good &= target.notna() & inside(target, at(1, "year"), "wlth_tot_net_nd")
        good &= table[["home_stat", "fam_married", "wlth_tot_net_nd"]].notna().all(axis=1)
        good &= inside(table.wlth_tot_net_nd, table.year, "wlth_tot_net_nd")
    elif name == "house_psid_owner":
        trimmed, income = ["finc_tot_rd"], "finc_tot_rd"
        target = at(1, "home_stat").map(
            lambda label: label if pd.isna(label) else "yes" if label == "Owns home" else "no"
        )
        good &= target.notna() & table.demo_age_gen.between(25, 75) & (table.home_stat == "Pays rent")
        wealth = table.wlth_tot_net_rd
        good &= wealth.isna() | inside(wealth, table.year, "wlth_tot_net_rd")
    else:
        trimmed, income = ["earn_tot_nd", "finc_tot_nd"], "finc_tot_nd"
        target = years(10, "earn_tot_nd")
        for ahead in (2, 4, 10):
            earned = years(ahead, "earn_tot_nd")
            good &= earned.notna() & inside(earned, table.year + ahead, "earn_tot_nd")
        good &= table.demo_age_gen.between(20, 60) & table[["emp_work", "edu_year_max"]].notna().all(axis=1)
        good &= inside(table.earn_tot_nd, table.year, "earn_tot_nd")
    good &= inside(table[income], table.year, income)
    unbroken = pd.Series(True, index=table.index)
    for lag in (1, 2, 3):
        unbroken &= at(-lag, "year").notna()
        for column in trimmed:
            then = at(-lag, column)
            good &= ~unbroken | then.isna() | inside(then, at(-lag, "year"), column)
    return dict(zip(zip(table.id[good], table.year[good], strict=True), target[good], strict=True))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("cons_psid_wealth", "wlth_tot_net_nd_next_wave"),
        ("house_psid_owner", "becomes_owner_next_wave"),
        ("income_psid_earnings", "earn_tot_nd_10y"),
    ],
)
def test_a_task_equals_an_independent_computation(name: str, column: str) -> None:
    table = run(name, synthetic()[0])
    wanted = expected(name)
    assert {(one, year): value for one, year, value in table.select("id", "year", column).iter_rows()} == wanted
    assert len(wanted) > 300
    if name == "house_psid_owner":
        assert set(wanted.values()) == {"yes", "no"}
