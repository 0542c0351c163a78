"""A source's panel tables: built once from the raw files, shared by all tasks of the source."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import BuildReport, DataError, Source
from hbench.core.leftovers import sweep, temporary_folder
from hbench.data.code import code_version
from hbench.data.files import atomic_file, atomic_folder, make_folder, raw_file_digests, raw_files
from hbench.data.fingerprint import RULES, fingerprint
from hbench.data.lines import plain
from hbench.data.store import Store

if TYPE_CHECKING:
    import polars as pl

_REPORT = "panel.json"


@dataclass(frozen=True)
class Panels:
    """Panel tables in the store.

    Attributes
    ----------
    path : Path
        Folder of ``NAME.parquet``.
    fingerprint : str
        Of everything that determined them.
    report : mapping
        ``files`` (SHA-256 by path), ``counts``, ``problems``.
    """

    path: Path
    fingerprint: str
    report: Mapping[str, Any]

    def tables(self) -> dict[str, pl.LazyFrame]:
        """Return the tables by name."""
        import polars as pl

        return {file.stem: pl.scan_parquet(file) for file in sorted(self.path.glob("*.parquet"))}


def build_panels(
    name: str,
    source: Source,
    *,
    suite: str,
    kind: str,
    raw: Path,
    store: Store,
    accept_changed: bool = False,
    accept_codes: bool = False,
) -> Panels:
    """Return the source's panels made from the files below `raw`; from the store if they are there.

    Raises
    ------
    DataError
        Raw files are missing, or differ from the expected ones and `accept_changed` is not set; or they hold unknown
        codes and `accept_codes` is not set. The panels stay in the store then, so that accepting costs no time.
    """
    digests = raw_digests(source, raw, accept_changed=accept_changed)
    key = {"rules": RULES, "source": name, "code": code_version(source), "files": digests}
    panels = _build(name, source, suite=suite, kind=kind, raw=raw, store=store, key=key, files=digests)
    if not accept_codes:
        _check_codes(panels, raw)
    return panels


def _check_codes(panels: Panels, raw: Path) -> None:
    """Refuse codes that the files' descriptions do not know, all at once."""
    odd = [problem for problem in panels.report["problems"] if problem.get("code")]
    if odd:
        lines = (f"{one['file']}: {one['what']}: {one['rows']:,} rows {one['example']}".rstrip() for one in odd)
        raise DataError(
            "the raw files hold codes that their descriptions do not know:\n    " + "\n    ".join(lines),
            file=raw,
            hint="Mend the files, or take such codes for no answer with --accept-codes; what was read is kept.",
        )


def demo_panels(name: str, source: Source, *, suite: str, store: Store, seed: int, scale: float) -> Panels:
    """Return the source's panels made from synthetic raw files of its own generator."""
    key = {"rules": RULES, "source": name, "code": code_version(source), "seed": seed, "scale": scale}
    sweep(Path(tempfile.gettempdir()))
    found = _find(name, suite, "demo", store, fingerprint(key))
    if found is not None:
        return found
    with temporary_folder(Path(tempfile.gettempdir()), "demo") as raw:
        source.demo(raw, seed=seed, scale=scale)
        return _build(name, source, suite=suite, kind="demo", raw=raw, store=store, key=key, files={})


def packaged_panels(name: str, source: Source, *, suite: str, store: Store) -> Panels:
    """Return the panels of a source that finds its files itself, in an installed package."""
    # What an installed package carries is known only by reading it, so nothing is looked up before.
    with temporary_folder(Path(tempfile.gettempdir()), "package") as raw:
        return _build(name, source, suite=suite, kind="package", raw=raw, store=store, key=None, files={})


def raw_digests(source: Source, raw: Path, *, accept_changed: bool = False) -> dict[str, str]:
    """Return the content digests of a source's raw files, by path below `raw`.

    Raises
    ------
    DataError
        Naming all missing files with their origin and terms, or all that changed.
    """
    missing: list[str] = []
    changed: list[str] = []
    digests: dict[str, str] = {}
    for wanted in source.files:
        found = raw_file_digests(raw, wanted)
        if not found and wanted.required and not any(raw_files(raw, other) for other in wanted.alternatives):
            ways = " or ".join((wanted.path, *wanted.alternatives))
            missing.append(f"{ways} (from {wanted.origin}; terms: {wanted.terms})")
        digests |= found
        changed += [
            f"{name}: {digest}, expected {wanted.sha256}"
            for name, digest in found.items()
            if wanted.sha256 not in (None, digest)
        ]
    if missing:
        raise DataError(
            f"{len(missing)} raw files are missing:\n    " + "\n    ".join(missing),
            file=raw,
            hint="Get them and keep their paths, or name the folder that holds them with --raw.",
        )
    if changed and not accept_changed:
        raise DataError(
            f"{len(changed)} raw files are not those that the suite was written for:\n    " + "\n    ".join(changed),
            file=raw,
            hint="If a newer issue is meant, go on with --accept-changed; the digests enter every result.",
        )
    return dict(sorted(digests.items()))


def _find(name: str, suite: str, kind: str, store: Store, mark: str) -> Panels | None:
    path = store.panels(suite, name, kind) / mark
    sweep(path.parent)
    if not path.is_dir():
        return None
    return Panels(path, mark, json.loads((path / _REPORT).read_text(encoding="utf-8")))


def _build(
    name: str,
    source: Source,
    *,
    suite: str,
    kind: str,
    raw: Path,
    store: Store,
    key: dict[str, Any] | None,
    files: dict[str, str],
) -> Panels:
    parent = store.panels(suite, name, kind)
    if key is not None and (found := _find(name, suite, kind, store, fingerprint(key))) is not None:
        return found
    report = BuildReport()
    make_folder(parent)
    with temporary_folder(parent, "build") as out:
        source.build(raw, out, report=report)
        made = sorted(path.name for path in out.glob("*.parquet"))
        if not made:
            raise DataError(f"the source {name!r} wrote no table", hint="A source writes NAME.parquet files.")
        if key is None:
            key = {"rules": RULES, "source": name, "code": code_version(source), "files": report.files}
        mark = fingerprint(key)
        with atomic_folder(parent / mark) as final:
            for file in made:
                (out / file).rename(final / file)
            with atomic_file(final / _REPORT) as path:
                path.write_text(_text(report, files), encoding="utf-8")
    found = _find(name, suite, kind, store, mark)
    if found is None:
        raise DataError(f"the panels of {name!r} vanished while they were made", file=parent)
    return found


def _text(report: BuildReport, files: Mapping[str, str]) -> str:
    content = {
        "files": dict(sorted({**files, **report.files}.items())),
        "counts": dict(report.counts),
        "problems": [asdict(problem) for problem in report.problems],
    }
    return json.dumps(content, indent=1, default=plain) + "\n"
