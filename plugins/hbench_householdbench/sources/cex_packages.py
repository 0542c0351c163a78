"""The yearly packages of the CEX Interview: zip archives as the BLS ships them, or the folders they unpack to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.archives import open_archive

FOLDER = "micro/cex/interview"
YEARS = (1980, 1981, *range(1984, 2025))
"""Years of the 43 packages; the public files of 1982 and 1983 were never issued."""
SUBSET = f"{FOLDER}/packages.txt"
"""Optional list of the years to use, one a line: without it, all packages must be there."""
_ORIGIN = "https://www.bls.gov/cex/pumd_data.htm"
_TERMS = "U.S. Bureau of Labor Statistics, public domain"
_FAMILY = re.compile(r"fmli(\d{3})x?\.csv$", re.IGNORECASE)


class Members(Protocol):
    """Files of an open package."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their paths in the package."""
        ...

    def read(self, name: str) -> bytes:
        """Return one file's bytes."""
        ...


@dataclass(frozen=True)
class _Unpacked:
    path: Path
    names: tuple[str, ...]

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()


@dataclass(frozen=True)
class Package:
    """One year's package.

    Attributes
    ----------
    year : int
        In its name. It holds that year's interviews and those of the next year's first quarter.
    path : Path
        The archive or the folder.
    """

    year: int
    path: Path

    @property
    def name(self) -> str:
        """Path below the raw folder, as reports name it."""
        return f"{FOLDER}/{self.path.name}"

    @contextmanager
    def open(self) -> Iterator[Members]:
        """Open the package."""
        if self.path.is_dir():
            files = sorted(path for path in self.path.rglob("*") if path.is_file())
            yield _Unpacked(self.path, tuple(path.relative_to(self.path).as_posix() for path in files))
        else:
            with open_archive(self.path) as archive:
                yield archive


def stem(year: int) -> str:
    """Return ``intrvw80`` for 1980."""
    return f"intrvw{year % 100:02d}"


def package_files() -> tuple[RawFile, ...]:
    """Return the raw files of all packages, packed or not, and the list that chooses among them."""
    packed = (RawFile(f"{FOLDER}/{stem(year)}.zip", _ORIGIN, _TERMS, required=False) for year in YEARS)
    unpacked = (RawFile(f"{FOLDER}/{stem(year)}/**/*.csv", _ORIGIN, _TERMS, required=False) for year in YEARS)
    return (RawFile(SUBSET, "your own list of years", "your own", required=False), *packed, *unpacked)


def find_packages(raw: Path, *, report: BuildReport) -> list[Package]:
    """Return the packages to read, by year.

    Raises
    ------
    DataError
        A package is missing, or there both packed and unpacked; the list of years has a line that is none.
    """
    years = _chosen(raw)
    report.counts["interview.packages"] = len(years)
    if set(years) != set(YEARS):
        report.problem(SUBSET, f"packages left out by the list, of {len(YEARS)}", len(YEARS) - len(years))
    packages, missing = [], []
    for year in years:
        there = [path for path in (raw / FOLDER / f"{stem(year)}.zip", raw / FOLDER / stem(year)) if path.exists()]
        if len(there) == 2:
            raise DataError(f"the package {year} is there twice, packed and unpacked", file=there[0])
        if there:
            packages.append(Package(year, there[0]))
        else:
            missing.append(f"{stem(year)}.zip")
    if missing:
        raise DataError(
            f"{len(missing)} of {len(years)} packages are missing: {', '.join(missing)}",
            file=raw / FOLDER,
            hint=f"Get them from {_ORIGIN}, or list the years to use in {SUBSET}: samples are then smaller.",
        )
    return packages


def family_members(package: Package, members: Members) -> Iterator[tuple[str, str]]:
    """Yield name and three-digit token (year and quarter, as ``961``) of the household files, by name.

    Raises
    ------
    DataError
        There is none, or one whose name has no token.
    """
    found = False
    for name in sorted(members.names):
        base = PurePosixPath(name).name
        # Archives packed on a Mac hold a shadow of every file.
        if "fmli" not in base.lower() or not base.lower().endswith(".csv") or base.startswith("._"):
            continue
        match = _FAMILY.search(base)
        if match is None:
            raise DataError(f"the household file {name!r} has no year and quarter in its name", file=package.path)
        found = True
        yield name, match[1]
    if not found:
        raise DataError("the package holds no household file (fmli...csv)", file=package.path)


def _chosen(raw: Path) -> list[int]:
    path = raw / SUBSET
    if not path.is_file():
        return list(YEARS)
    years = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text and (not text.isdigit() or int(text) not in YEARS):
            raise DataError(f"{text!r} is not the year of a package", file=path, line=number)
        if text:
            years.add(int(text))
    if not years:
        raise DataError("the list names no year", file=path)
    return sorted(years)
