"""Raw survey files and what becomes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from hbench.core.answer import Failure
from hbench.core.record import JsonValue, Message


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file that a source reads.

    Attributes
    ----------
    path : str
        Glob relative to the raw folder, as in ``bigfive/bigfive_data.csv``.
    origin : str
        Where to get it.
    terms : str
        Licence or terms of use.
    sha256 : str or None
        Expected digest; None where providers reissue the file.
    required : bool
        Whether nothing can be built without it.
    members : str or None
        Of an archive, packed or unpacked: glob for the base names of the files in it that are read, whatever their
        case. Others do not count: a change of them is none.
    alternatives : tuple of str
        Globs of files that do in its place, as where a provider has two layouts; each is a file of the source, too.
    """

    path: str
    origin: str
    terms: str
    sha256: str | None = None
    required: bool = True
    members: str | None = None
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd in a raw file: counted and shown, never silently dropped.

    Attributes
    ----------
    file, what : str
        Where, and what it is.
    rows : int
        How many cells or records.
    example : str
        One of them.
    code : bool
        Whether these are codes that the file's description does not know: no answers, if the user accepts that.
    """

    file: str
    what: str
    rows: int
    example: str = ""
    code: bool = False


@dataclass
class BuildReport:
    """What a build read, dropped and found odd.

    Attributes
    ----------
    files : dict
        SHA-256 of every file read, by path relative to the raw folder.
    counts : Counter
        Named row counts.
    problems : list of Problem
        In the order found.
    """

    files: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def problem(self, file: str, what: str, rows: int, example: str = "", *, code: bool = False) -> None:
        """Note something odd; nothing is noted for zero rows."""
        if rows:
            self.problems.append(Problem(file, what, rows, example, code))

    def add(self, later: BuildReport) -> None:
        """Take in what a later part of the build noted."""
        self.files.update(later.files)
        self.counts.update(later.counts)
        self.problems += later.problems


class Source(Protocol):
    """Turns raw files into cleaned panel tables (Parquet)."""

    @property
    def files(self) -> tuple[RawFile, ...]:
        """All files that `build` may read."""
        ...

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the panel tables ``out/NAME.parquet`` from the files below `raw`."""
        ...

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write synthetic raw files in the provider's layout below `raw`."""
        ...


@runtime_checkable
class Extracting(Protocol):
    """A source one of whose raw files is a model's reading of another, made by ``hbench data build --extractor``."""

    def questions(self, raw: Path) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """Yield what the model is asked: a name of its own for each question, and the prompt."""
        ...

    def read(self, text: str) -> dict[str, JsonValue] | Failure:
        """Read an answer, or say why it is none."""
        ...

    def write(self, raw: Path, answers: Iterable[tuple[str, dict[str, JsonValue]]], made: dict[str, JsonValue]) -> None:
        """Write the raw file from answers in the order of the questions; `made` says by what."""
        ...
