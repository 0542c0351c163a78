"""A suite and its tasks, opened for checks: specs, data, rows and records, each read once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hbench.core import HbenchError, Parser, Record, SelectionError
from hbench.data import DataChoice, Store, TaskData, open_data
from hbench.data.choice import choose
from hbench.data.opening import IMPLICIT
from hbench.prompt import PromptRenderer, is_missing, table_records
from hbench.testing.unchecked import UncheckedError

if TYPE_CHECKING:
    from hbench.plugin import Registry
    from hbench.spec import Suite, Task, TaskEntry, TaskIndex

ROWS = 200
"""Rows and records of a task that are looked at, evenly spaced over the table."""
T = TypeVar("T")


class SuiteUnderTest:
    """A suite to be checked.

    Parameters
    ----------
    name : str
        The suite.
    include_paths : sequence of Path
        Folders of tasks that are not installed.
    data : sequence of str
        ``[SUITE=]KIND`` or folders, as for ``hbench eval``; by default the suite's own kind.
    rows : Path or None
        Folder of ``TASK.json`` files with rows of the task's table: a list, or a mapping from a row's name to the row.
        They stand in for data that cannot be had.
    store : Store or None
        Where data are made (default: the user's store).
    registry : Registry or None
        Components (default: those of all installed plugins).

    Raises
    ------
    SelectionError
        There is no such suite.
    """

    def __init__(
        self,
        name: str,
        *,
        include_paths: Sequence[Path] = (),
        data: Sequence[str] = (),
        rows: Path | None = None,
        store: Store | None = None,
        registry: Registry | None = None,
    ) -> None:
        from hbench.plugin import default_registry
        from hbench.spec import discover, suggestion

        self.name = name
        self.index: TaskIndex = discover(include_paths)
        self.entries: list[TaskEntry] = [entry for entry in self.index.entries if entry.suite == name]
        self.broken = [file for file in self.index.broken if file.suite == name]
        if not self.entries and not self.broken:
            raise SelectionError(f"there is no suite {name!r}", hint=suggestion(name, self.index.suites()))
        self.registry = registry or default_registry()
        self.choices = [DataChoice.parse(text) for text in data]
        self.rows_folder = rows
        self.store = store or Store()

    @cached_property
    def page(self) -> Suite:
        """The suite's own page."""
        return self.index.suite(self.name)

    @cached_property
    def tasks(self) -> list[TaskUnderTest]:
        """The tasks whose specs can be read; the check ``specs`` tells of the others."""
        return [TaskUnderTest(self, entry) for entry in self.entries if _loads(entry)]

    @property
    def kind(self) -> str:
        """The data kind that is checked."""
        return choose(self.choices, self.name, default=self.page.data).value


class TaskUnderTest:
    """One task of a suite to be checked."""

    def __init__(self, suite: SuiteUnderTest, entry: TaskEntry) -> None:
        self.suite, self.entry, self.name = suite, entry, entry.name
        self.registry = suite.registry

    @cached_property
    def spec(self) -> Task:
        """The spec."""
        return self.entry.load()

    @cached_property
    def parser(self) -> Parser:
        """A parser of the task's kind."""
        parser: Parser = self.registry.get("parser", self.spec.answer.parser, suite=self.spec.suite)()
        return parser

    @cached_property
    def renderer(self) -> PromptRenderer:
        """The task's compiled prompt."""
        return PromptRenderer(
            self.spec,
            registry=self.registry,
            folder=self.entry.path.parent,
            root=self.entry.root,
            file=self.entry.path,
        )

    def make_data(self) -> TaskData:
        """Open the task's data, or make them where that needs nothing from the user."""
        return open_data(
            self.spec,
            self.suite.choices,
            store=self.suite.store,
            registry=self.registry,
            suite=self.suite.page,
            records_of=partial(
                table_records,
                registry=self.registry,
                folder=self.entry.path.parent,
                root=self.entry.root,
                file=self.entry.path,
            ),
            folder=self.entry.path.parent,
        )

    @property
    def must_have_data(self) -> bool:
        """Whether data can be made without raw files, so that their absence is a fault."""
        return self.suite.kind in IMPLICIT or not self.spec.sources

    @property
    def data(self) -> TaskData:
        """The data. Raises `UncheckedError` where there are none; the check ``data`` tells whether that is a fault."""
        return _checked(self._data)

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """Rows of the task's table, or the fixture's. Raises `UncheckedError` where there are none."""
        return _checked(self._rows)

    @property
    def records(self) -> list[Record]:
        """Records of the evaluation sample, or those of the fixture's rows."""
        return _checked(self._records)

    @property
    def columns(self) -> frozenset[str]:
        """Columns of the rows that reach a model: predictors, and what the prompt's templates use."""
        return frozenset(self.spec.predictor_columns) | (self.renderer.names & set(self.rows[0]))

    def optional(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the columns that a record may lack: by the spec, or since some of the rows lack them."""
        lacking = {name for row in rows for name, value in row.items() if is_missing(value)}
        needed = set(self.spec.required_columns)
        return sorted(self.columns & ({*self.spec.predictor_columns} - needed | lacking))

    @cached_property
    def _data(self) -> TaskData | UncheckedError:
        try:
            return self.make_data()
        except HbenchError as error:
            return UncheckedError(f"there are no data ({error.message})")

    @cached_property
    def _rows(self) -> list[Mapping[str, Any]] | UncheckedError:
        if (fixture := self._fixture()) is not None:
            return fixture
        if isinstance(self._data, UncheckedError):
            return self._data
        table = self._data.path / "table.parquet"
        if not table.is_file():
            return UncheckedError("the data are finished records, without the rows that they were made of")
        import polars as pl

        frame = pl.scan_parquet(table)
        total = frame.select(pl.len()).collect().item()
        step = max(1, total // ROWS)
        found = frame.gather_every(step).head(ROWS).collect()
        return list(found.iter_rows(named=True)) or UncheckedError("the table is empty")

    @cached_property
    def _records(self) -> list[Record] | UncheckedError:
        fixture = self._fixture()
        if fixture is not None:
            made = table_records(
                self.spec,
                fixture,
                registry=self.registry,
                folder=self.entry.path.parent,
                root=self.entry.root,
                file=self.entry.path,
            )
            # Rows of one fixture are often variants of one another: the first stands for the record.
            return list({record.key: record for record in reversed(list(made))}.values())
        if isinstance(self._data, UncheckedError):
            return self._data
        return list(islice(self._data.records(), 10 * ROWS)) or UncheckedError("no record is for evaluation")

    def _fixture(self) -> list[Mapping[str, Any]] | None:
        folder = self.suite.rows_folder
        if folder is None or not (file := folder / f"{self.spec.task}.json").is_file():
            return None
        content = json.loads(file.read_text(encoding="utf-8"))
        return list(content.values()) if isinstance(content, dict) else content


def _checked(value: T | UncheckedError) -> T:
    if isinstance(value, UncheckedError):
        raise value
    return value


def _loads(entry: TaskEntry) -> bool:
    try:
        entry.load()
    except HbenchError:
        return False
    return True


def each(values: Sequence[T], limit: int) -> Iterator[T]:
    """Yield at most `limit` values, evenly spaced."""
    yield from values[:: max(1, len(values) // limit)][:limit]
