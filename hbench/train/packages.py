"""The packages of the extra `train`, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from hbench.core import TrainingError

_HINTS = {"torch": "Install the build for your machine, see https://pytorch.org/get-started/locally"}


def need(module: str) -> Any:
    """Import a module.

    Raises
    ------
    TrainingError
        Where it is not installed, with what to do.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).partition(".")[0]
        raise TrainingError(
            f"fine-tuning needs {package}", hint=_HINTS.get(package, "pip install 'hbench[train]'")
        ) from error
