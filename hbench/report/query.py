"""A run's rows as SQL tables, with DuckDB: read-only, and shut off from files and networks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import RunError, SelectionError
from hbench.report.comparison import Comparison

if TYPE_CHECKING:
    import duckdb

TABLES = {
    "predictions": {
        "suite": "VARCHAR", "task": "VARCHAR", "split": "VARCHAR", "model": "VARCHAR", "record": "VARCHAR",
        "draw": "INTEGER", "valid": "BOOLEAN", "values": "JSON", "repaired": "VARCHAR", "stage": "VARCHAR",
        "reason": "VARCHAR",
    },
    "answers": {
        "suite": "VARCHAR", "task": "VARCHAR", "split": "VARCHAR", "model": "VARCHAR", "record": "VARCHAR",
        "target": "VARCHAR", "predicted": "JSON", "gold": "JSON", "naive": "JSON", "error": "DOUBLE",
        "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost": "DOUBLE",
    },
    "records": {
        "suite": "VARCHAR", "task": "VARCHAR", "split": "VARCHAR", "record": "VARCHAR", "id": "VARCHAR",
        "time": "VARCHAR", "release_date": "VARCHAR", "group": "VARCHAR", "cluster": "VARCHAR", "weight": "DOUBLE",
        "gold": "JSON", "naive": "JSON", "predictors": "JSON", "metadata": "JSON",
    },
}  # fmt: skip
"""Tables and their columns, besides ``scores``, which holds the stored tidy rows. `answers` has a row for each record
and target with the draws aggregated; `error` is prediction - truth of numbers."""


def open_tables(comparison: Comparison, *, memory: str = "2GB") -> duckdb.DuckDBPyConnection:
    """Return a database in memory that holds the runs' rows and can reach nothing else.

    Raises
    ------
    SelectionError
        When DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise SelectionError("queries need DuckDB", hint="pip install 'hbench[data]'") from error
    connection = duckdb.connect(":memory:", config={"memory_limit": memory})
    for name, rows in _rows(comparison).items():
        _load(connection, name, TABLES[name], rows)
    scores = [row for result in comparison.results for row in result.rows]
    _load(connection, "scores", _columns_of(scores), [list(row.values()) for row in scores])
    # From here on: no files, no extensions, and no way back.
    connection.execute("SET enable_external_access = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET lock_configuration = true")
    return connection


def query(paths: Sequence[Path], sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run one SELECT over some runs.

    Returns
    -------
    list of str
        Column names.
    list of tuple
        Rows.

    Raises
    ------
    RunError
        When the statement is not a single SELECT, or fails; with DuckDB's words.
    """
    connection = open_tables(Comparison.load(paths))
    import duckdb

    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise RunError("give one SELECT statement", hint="Tables: predictions, answers, records, scores.")
        result = connection.execute(sql)
        return [about[0] for about in result.description or ()], result.fetchall()
    except duckdb.Error as error:
        raise RunError(f"the query fails: {error}") from error
    finally:
        connection.close()


def _load(
    connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], rows: Sequence[Sequence[Any]]
) -> None:
    spelt = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    connection.execute(f"CREATE TABLE {name} ({spelt})")
    # One parameter holds many rows: a parameter for each cell is a hundred times slower.
    names = list(columns)
    for start in range(0, len(rows), 20_000):
        part = json.dumps([dict(zip(names, row, strict=True)) for row in rows[start : start + 20_000]], default=str)
        shape = json.dumps([dict(columns)])
        connection.execute(f"INSERT INTO {name} SELECT unnest(from_json(?::JSON, ?), recursive := true)", [part, shape])


def _rows(comparison: Comparison) -> dict[str, list[list[Any]]]:
    out: dict[str, list[list[Any]]] = {name: [] for name in TABLES}
    for part in comparison.parts:
        place = [part.task.suite, part.task.task, part.split]
        golds: list[Any] = [None] * len(part.records)
        naives: list[Any] = [None] * len(part.records)
        for model, mine in part.answers.items():
            for i, (record, answered) in enumerate(zip(part.records, mine, strict=True)):
                row = answered.row
                golds[i], naives[i] = row.gold, row.naive
                for draw, result in answered.draws or ():
                    values = getattr(result, "values", None)
                    told = (getattr(result, name, None) for name in ("repaired", "stage", "reason"))
                    out["predictions"].append([*place, model, record.key, draw, values is not None, values, *told])
                for index, target in enumerate(part.task.targets):
                    guess = None if row.prediction is None else row.prediction[index]
                    truth = row.gold[index]
                    numbers = isinstance(guess, int | float) and isinstance(truth, int | float)
                    out["answers"].append(
                        [
                            *place, model, record.key, target.name, guess, truth,
                            None if row.naive is None else row.naive[index],
                            guess - truth if numbers else None,  # type: ignore[operator]
                            answered.spent.tokens_in, answered.spent.tokens_out, answered.spent.cost,
                        ]
                    )  # fmt: skip
        for record, gold, naive in zip(part.records, golds, naives, strict=True):
            out["records"].append(
                [
                    *place, record.key, record.id, record.time, record.release_date, record.group, record.cluster,
                    record.weight, gold, naive, dict(record.predictors),
                    dict(record.metadata),
                ]
            )  # fmt: skip
    return out


def _columns_of(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    kinds = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    numbers = {"value", "strict_value", "se", "lo", "hi"}
    names = list(rows[0]) if rows else ["suite", "task", "model", "metric", "value"]
    out = {}
    for name in names:
        first = next((row[name] for row in rows if row[name] is not None), None)
        out[name] = "DOUBLE" if name in numbers else kinds.get(type(first), "VARCHAR")
    return out
