"""Registers one plugin in a process of its own, and tells what that cost: ``python -m hbench.testing.import_probe``."""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import entry_points

from hbench.plugin import Scope


def probe(name: str) -> dict[str, object]:
    """Import a plugin and let it register.

    Returns
    -------
    dict
        ``modules`` that this imported, and processor ``seconds``.
    """
    before, start = set(sys.modules), time.process_time()
    for entry in entry_points(group="hbench", name=name):
        entry.load().hbench_register(scope=Scope(name, "", ""))
    return {"modules": sorted(set(sys.modules) - before), "seconds": time.process_time() - start}


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))  # noqa: T201 - the answer to the process that asked
