"""From a model's words to a model that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hbench.core import JsonValue, Model, ModelContext, Sampling
from hbench.model.options import SAMPLING_NAMES, unknown_option
from hbench.model.spec import ModelSpec

if TYPE_CHECKING:
    from hbench.plugin import Registry

Factory = Callable[[str, Mapping[str, JsonValue], ModelContext], Model]
"""What is registered under kind ``model``: argument, options and context in, a model out."""


def make_model(spec: ModelSpec | str, context: ModelContext, *, registry: Registry) -> Model:
    """Make the model that `spec` names.

    Parameters
    ----------
    spec : ModelSpec or str
        The model's words.
    context : ModelContext
        What the model may ask of the evaluation.
    registry : Registry
        Where back ends and baselines are registered.

    Raises
    ------
    ModelError
        For unknown or ill-typed options, and for generation settings of a model that does not generate.
    PluginError
        Where no model has the name.
    """
    if isinstance(spec, str):
        spec = ModelSpec.parse(spec)
    factory: Factory = registry.get("model", spec.name)
    model = factory(spec.argument, spec.options, context)
    if spec.sampling != Sampling() and not getattr(model, "generative", True):
        given = next(name for name in SAMPLING_NAMES if getattr(spec.sampling, name) != getattr(Sampling(), name))
        raise unknown_option(spec.name, given, (), sampling=False)
    return model
