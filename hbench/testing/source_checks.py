"""Sources: the same tables every time, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from hbench.testing.subject import SuiteUnderTest
from hbench.testing.unchecked import UncheckedError

MEMORY = 512 * 2**20
"""Bytes by which building from demo files may make a process grow."""


def sources(suite: SuiteUnderTest) -> Iterator[str]:
    """Build every source of the suite twice, in fresh processes that hash texts differently."""
    names = sorted({name for task in suite.tasks for name in task.spec.sources})
    own = {info.name for info in suite.registry.names("source") if info.suite == suite.name}
    present = [name for name in names if name.rpartition("/")[2] in own]
    if not present:
        raise UncheckedError("no task of the suite uses a source of its own")
    refused = []
    for name in present:
        for kind in ["demo", *(["package"] if suite.page.data == "package" else [])]:
            first, second = (_probe(suite.name, name, kind, seed) for seed in ("1", "2"))
            if "error" in first:
                yield f"the source {name!r} fails on {kind} data: {first['error']}"
            elif "refused" in first:
                refused.append(f"{name}, {kind}: {first['refused']}")
                # A suite with real data of its own needs no synthetic ones.
                if kind == suite.page.data:
                    yield f"the source {name!r} makes no {kind} data: {first['refused']}"
            else:
                yield from _compare(name, kind, first, second)
    if len(refused) == len(present) and suite.page.data not in ("demo", "package"):
        raise UncheckedError(f"no source makes demo data ({refused[0]})")


def _compare(name: str, kind: str, first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    differing = sorted(
        file
        for file in {*first["files"], *second.get("files", {})}
        if first["files"].get(file) != second.get("files", {}).get(file)
    )
    if differing:
        yield f"the source {name!r} is not deterministic: {', '.join(differing)} differ between two {kind} builds"
    if not any(file.endswith(".parquet") for file in first["files"]):
        yield f"the source {name!r} writes no table (out/NAME.parquet) from {kind} data"
    if first["memory"] > MEMORY:
        yield (
            f"the source {name!r} takes {first['memory'] / 2**20:,.0f} MiB for {first['raw'] / 2**20:,.1f} MiB of raw "
            f"files; {MEMORY / 2**20:,.0f} MiB are allowed (read in batches, or with a lazy frame)"
        )


def _probe(suite: str, name: str, kind: str, seed: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "hbench.testing.source_probe", suite, name, kind],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"error": done.stderr.strip().rpartition("\n")[2]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result
