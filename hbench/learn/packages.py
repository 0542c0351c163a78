"""The libraries that learners come from."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hbench.core import HbenchError

_NAMES = {"sklearn": "scikit-learn", "xgboost": "XGBoost"}


def library(module: str, *, learner: str) -> Any:
    """Import a library when a learner first needs it.

    Raises
    ------
    HbenchError
        It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise HbenchError(
            f"the learner {learner!r} needs {_NAMES[module.partition('.')[0]]}",
            hint="pip install 'hbench[learners-cpu]' (or hbench[learners])",
        ) from error
