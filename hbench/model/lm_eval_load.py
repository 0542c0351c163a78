"""Loading a model of lm-eval's registry, and saying what is wrong with the words for it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from hbench.core import JsonValue, ModelError
from hbench.core.errors import first_line


def load_model(name: str, kind: str, arguments: Mapping[str, JsonValue]) -> Any:
    """Load a model of a type that lm-eval registers; takes as long as its weights.

    Parameters
    ----------
    name : str
        The model as the user named it, for messages.
    kind : str
        lm-eval's name of the type.
    arguments : mapping
        For the constructor of lm-eval's class.

    Raises
    ------
    ModelError
        For a type or an option that does not exist, or where the model cannot be loaded.
    """
    # lm-eval greets at level INFO and repeats every setting.
    logging.getLogger("lm_eval").setLevel(logging.WARNING)
    from lm_eval.api.registry import get_model

    try:
        model_class: Any = get_model(kind)
    except (ValueError, KeyError) as error:
        from lm_eval.api.registry import model_registry

        near = get_close_matches(kind, list(model_registry.keys()), n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ModelError(f"lm-eval has no model type {kind!r}{meant}") from error
    if "transformers" in sys.modules:
        transformers_logging: Any = importlib.import_module("transformers.utils.logging")
        transformers_logging.disable_progress_bar()
    parameters = inspect.signature(model_class.__init__).parameters
    for option in arguments:
        near = get_close_matches(option, list(parameters), n=1, cutoff=0.8)
        if option not in parameters and near:
            # The class may take any keyword, and would drop this one without a word.
            raise ModelError(f"model {name} has no option {option!r}; did you mean {near[0]!r}?")
    placed = dict(arguments)
    if "device" in parameters and "device" not in arguments and importlib.util.find_spec("torch"):
        import torch

        placed["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return model_class(**placed)
    except Exception as error:
        raise ModelError(f"model {name} cannot be loaded: {type(error).__name__}: {first_line(error)}") from error
