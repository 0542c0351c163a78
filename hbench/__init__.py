"""The evaluation framework hbench.

How well does a model predict what people do, and how many human answers is it worth?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.core.version import __version__

__all__ = ["__version__", "evaluate"]

if TYPE_CHECKING:
    from hbench.api import evaluate


def __getattr__(name: str) -> Any:
    """Import `evaluate` on first use, so that `import hbench` stays cheap."""
    if name == "evaluate":
        from hbench.api import evaluate

        return evaluate
    raise AttributeError(f"module 'hbench' has no attribute {name!r}")
