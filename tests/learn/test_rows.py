from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hbench.core import DataError
from hbench.learn.rows import read_cells

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ROWS: list[dict[str, Any]] = [
    {"income": 10.5, "sex": "female", "code": 1},
    {"income": None, "sex": " male ", "code": 1.0},
    {"income": 7, "sex": None, "code": 2},
    {"income": 3.0, "sex": "", "code": None},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ("income", "sex", "code")}


@pytest.mark.parametrize(
    "given",
    [ROWS, iter(ROWS), COLUMNS, pandas.DataFrame(ROWS), polars.DataFrame(COLUMNS, strict=False)],
    ids=["mappings", "iterator", "columns", "pandas", "polars"],
)
def test_all_forms_of_rows_are_read_alike(given: Any) -> None:
    cells = read_cells(given, numeric=["income"], categorical=["sex", "code"])
    np.testing.assert_array_equal(cells.numeric[:, 0], [10.5, np.nan, 7, 3])
    assert cells.codes.tolist() == [[0, 0], [1, 0], [-1, 1], [-1, -1]]
    assert cells.vocabulary == [["female", "male"], ["1", "2"]]


def test_missing_values_of_pandas_are_missing() -> None:
    frame = pandas.DataFrame(
        {"n": pandas.array([1, None], dtype="Int64"), "c": pandas.array(["a", None], dtype="string")}
    )
    cells = read_cells(frame, numeric=["n"], categorical=["c"])
    np.testing.assert_array_equal(cells.numeric[:, 0], [1, np.nan])
    assert cells.codes[:, 0].tolist() == [0, -1]


def test_a_missing_truth_value_of_pandas_is_a_missing_number() -> None:
    frame = pandas.DataFrame({"n": pandas.array([True, None], dtype="boolean")})
    np.testing.assert_array_equal(read_cells(frame, numeric=["n"], categorical=[]).numeric[:, 0], [1, np.nan])


@pytest.mark.parametrize("number", [float("inf"), -float("inf"), 1e39, 10**400])
def test_numbers_that_no_learner_takes_are_an_error_in_every_form(number: float) -> None:
    forms = [[{"n": 1.0}, {"n": number}]]
    if isinstance(number, float):
        forms += [pandas.DataFrame({"n": [1.0, number]}), polars.DataFrame({"n": [1.0, number]})]
    for given in forms:
        with pytest.raises(DataError, match=r"'n' holds (-?inf|1e\+39)"):
            read_cells(given, numeric=["n"], categorical=[])


def test_true_and_one_are_two_levels() -> None:
    cells = read_cells([{"c": True}, {"c": 1}], numeric=[], categorical=["c"])
    assert cells.vocabulary == [["True", "1"]]


def test_a_frame_without_a_column_is_an_error_that_lists_what_there_is() -> None:
    with pytest.raises(DataError, match="no column 'age'") as caught:
        read_cells(pandas.DataFrame({"n": [1]}), numeric=["age"], categorical=[])
    assert "Columns: n." in str(caught.value)


def test_text_among_numbers_is_an_error_in_every_form() -> None:
    for given in ([{"n": "ten"}], pandas.DataFrame({"n": ["ten"]}), polars.DataFrame({"n": ["ten"]})):
        with pytest.raises(DataError, match="'n' holds 'ten'"):
            read_cells(given, numeric=["n"], categorical=[])


def test_no_rows_and_no_columns() -> None:
    assert len(read_cells([], numeric=["n"], categorical=["c"])) == 0
    assert read_cells(ROWS, numeric=[], categorical=[]).numeric.shape == (4, 0)
