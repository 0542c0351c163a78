"""The yearly packages of the CEX Interview: zip archives as the BLS ships them, or the folders they unpack to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.archives import Archive, Folder, open_archive

FOLDER = "micro/cex/interview"
YEARS = (1980, 1981, *range(1984, 2025))
"""Years of the 43 packages; the public files of 1982 and 1983 were never issued."""
SUBSET = f"{FOLDER}/packages.txt"
"""Optional list of the years to use, one a line: without it, all packages must be there."""
_ORIGIN = "https://www.bls.gov/cex/pumd_data.htm"
_TERMS = "U.S. Bureau of Labor Statistics, public domain"
_FAMILY = re.compile(r"fmli(\d{3})x?\.csv$", re.IGNORECASE)


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
    def open(self) -> Iterator[Archive | Folder]:
        """Open the package."""
        if self.path.is_dir():
            yield Folder(self.path)
        else:
            with open_archive(self.path) as archive:
                yield archive


def stem(year: int) -> str:
    """Return ``intrvw80`` for 1980."""
    return f"intrvw{year % 100:02d}"


def package_file(year: int, members: str, *, required: bool = True) -> RawFile:
    """Return a year's package, packed or not, as far as the named members go."""
    return RawFile(f"{FOLDER}/{stem(year)}.zip", _ORIGIN, _TERMS, required=required, members=members)


def package_files() -> tuple[RawFile, ...]:
    """Return the household files of all packages, and the list that chooses among them."""
    packages = (package_file(year, "*fmli*.csv", required=False) for year in YEARS)
    return (RawFile(SUBSET, "your own list of years", "your own", required=False), *packages)


def find_package(raw: Path, year: int) -> Package | None:
    """Return a year's package if it is there.

    Raises
    ------
    DataError
        It is there both packed and unpacked.
    """
    there = [path for path in (raw / FOLDER / f"{stem(year)}.zip", raw / FOLDER / stem(year)) if path.exists()]
    if len(there) == 2:
        raise DataError(f"the package {year} is there twice, packed and unpacked", file=there[0])
    return Package(year, there[0]) if there else None


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
        package = find_package(raw, year)
        if package is not None:
            packages.append(package)
        else:
            missing.append(f"{stem(year)}.zip")
    if missing:
        raise DataError(
            f"{len(missing)} of {len(years)} packages are missing: {', '.join(missing)}",
            file=raw / FOLDER,
            hint=f"Get them from {_ORIGIN}, or list the years to use in {SUBSET}: samples are then smaller.",
        )
    return packages


def family_members(package: Package, members: Archive | Folder) -> Iterator[tuple[str, str]]:
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
