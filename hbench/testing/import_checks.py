"""Registering a plugin must not slow down every command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from hbench.testing.subject import SuiteUnderTest
from hbench.testing.unchecked import UncheckedError

HEAVY = frozenset(
    (
        *("datasets", "duckdb", "linearmodels", "lm_eval", "matplotlib", "numpy", "pandas", "polars", "pyarrow"),
        *("pyreadstat", "scipy", "sklearn", "statsmodels", "torch", "transformers", "vllm", "xgboost"),
    )
)
"""Packages that a component may import when it is used, and a plugin must not when it registers."""
SECONDS = 0.3
"""Processor time that registering may take."""


def imports(suite: SuiteUnderTest) -> Iterator[str]:
    """Yield heavy packages that registering imports, and the time if it is long."""
    if not any(plugin.name == suite.name for plugin in suite.registry.plugins):
        raise UncheckedError("the suite has no plugin, only YAML files")
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "hbench.testing.import_probe", suite.name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        yield f"the plugin cannot be imported: {done.stderr.strip().rpartition(chr(10))[2]}"
        return
    cost = json.loads(done.stdout)
    heavy = sorted(HEAVY & {module.partition(".")[0] for module in cost["modules"]})
    if heavy:
        yield f"registering imports {', '.join(heavy)}: name components as 'module:attribute', and import them there"
    if cost["seconds"] > SECONDS:
        yield f"registering takes {cost['seconds']:.2f} s; {SECONDS} s are allowed"
