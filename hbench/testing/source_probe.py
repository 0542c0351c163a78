"""Builds one source in a process of its own, and tells what came of it: ``python -m hbench.testing.source_probe``."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

from hbench.core import BuildReport, HbenchError
from hbench.data.files import sha256_file

_UNIT = 1024 if sys.platform != "darwin" else 1
"""Bytes of the system's unit of memory."""


def probe(suite: str, name: str, kind: str) -> dict[str, object]:
    """Make a source's tables from its demo files, or from what its package carries.

    Returns
    -------
    dict
        ``files`` (SHA-256 of every raw file and table by name), ``raw`` (bytes of the raw files) and ``memory`` (bytes
        by which the process grew), or ``refused`` with the source's own reason.
    """
    import polars  # noqa: F401 - so that its own memory is not the source's

    from hbench.plugin import default_registry

    with tempfile.TemporaryDirectory(prefix="hbench-probe-") as folder:
        raw, out = Path(folder) / "raw", Path(folder) / "out"
        raw.mkdir()
        out.mkdir()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            source = default_registry().get("source", name, suite=suite)()
            if kind == "demo":
                source.demo(raw, seed=7, scale=1.0)
            source.build(raw, out, report=BuildReport())
        except HbenchError as error:
            return {"refused": error.message}
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * _UNIT
        made = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return {
            "files": {path.relative_to(folder).as_posix(): sha256_file(path) for path in made},
            "raw": sum(path.stat().st_size for path in made if raw in path.parents),
            "memory": memory,
        }


if __name__ == "__main__":
    print(json.dumps(probe(*sys.argv[1:4])))  # noqa: T201 - the answer to the process that asked
