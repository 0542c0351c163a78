"""Which of several layouts of one raw file the user has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import raw_files


def chosen(raw: Path, layouts: Sequence[RawFile], *, report: BuildReport) -> tuple[RawFile, Path]:
    """Return the first of `layouts` that is below `raw`, and its file.

    Further layouts that are there are not read, and reported.

    Raises
    ------
    DataError
        None is there, or one is there in several editions.
    """
    found = [(layout, path) for layout in layouts for path in raw_files(raw, layout.path)]
    if not found:
        ways = " or ".join(f"{layout.path} (from {layout.origin}; terms: {layout.terms})" for layout in layouts)
        raise DataError(f"there is no {ways}", file=raw)
    layout, path = found[0]
    editions = sorted({other.name for one, other in found if one is layout})
    if len(editions) > 1:
        raise DataError(f"there are several editions: {', '.join(editions)}", file=raw / layout.path, hint="Keep one.")
    for other in sorted({other for _, other in found} - {path}):
        report.problem(other.relative_to(raw).as_posix(), f"the file is not read, since {path.name} is there", 1)
    return layout, path
