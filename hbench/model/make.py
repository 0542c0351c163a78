"""From a model's words to a model that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hbench.core import JsonValue, Model, ModelContext, ModelError, Sampling
from hbench.model.adapters import Adapted, ModelAdapter
from hbench.model.families import find_family
from hbench.model.likelihood import LENGTHS, ByLikelihood
from hbench.model.options import SAMPLING_NAMES, Options, unknown_option
from hbench.model.spec import ModelSpec

if TYPE_CHECKING:
    from hbench.plugin import Registry

Factory = Callable[[str, Mapping[str, JsonValue], ModelContext], Model]
"""What is registered under kind ``model``: argument, options and context in, a model out."""

ANSWER_MODES = ("text", "loglikelihood")
COMMON = ("adapter", "answer_mode", "family", "length")
"""Options of every generative model, whatever its back end."""


@dataclass(frozen=True)
class Made:
    """A model with its generation settings.

    Attributes
    ----------
    model : Model
        Answers.
    sampling : Sampling
        What the user gave, completed by the model's family and its adapter.
    family : str or None
        The family whose settings completed it.
    """

    model: Model
    sampling: Sampling
    family: str | None = None


def make_model(spec: ModelSpec | str, context: ModelContext, *, registry: Registry, answer_mode: str = "text") -> Made:
    """Make the model that `spec` names.

    Parameters
    ----------
    spec : ModelSpec or str
        The model's words.
    context : ModelContext
        What the model may ask of the evaluation.
    registry : Registry
        Where back ends, baselines, adapters and families are registered.
    answer_mode : {"text", "loglikelihood"}
        How generative models answer that do not say so themselves.

    Raises
    ------
    ModelError
        For unknown or ill-typed options, and for generation settings of a model that does not generate.
    PluginError
        Where no model, adapter or family has the name.
    """
    if isinstance(spec, str):
        spec = ModelSpec.parse(spec)
    own = {name: value for name, value in spec.options.items() if name not in COMMON}
    read = Options(spec.name, {name: value for name, value in spec.options.items() if name in COMMON})
    adapter_name = read.text("adapter")
    adapter: ModelAdapter | None = None if adapter_name is None else registry.get("model_adapter", adapter_name)()
    if adapter is not None and adapter.plain:
        own.setdefault("chat_template", "off")
    factory: Factory = registry.get("model", spec.name)
    try:
        model: Any = factory(spec.argument, own, context)
    except ModelError as error:
        if "'chat_template'" in error.message and "chat_template" not in spec.options:
            raise ModelError(
                f"model {spec.label}: {spec.name} takes no plain text, which is what the adapter {adapter_name} writes"
            ) from error
        raise
    if not getattr(model, "generative", True):
        _refuse_generation(spec)
        return Made(model, spec.sampling)
    if adapter is not None and adapter_name is not None:
        model = Adapted(model, adapter, registry.find("model_adapter", adapter_name).qualified)
    if read.choice("answer_mode", answer_mode, ANSWER_MODES) == "loglikelihood":
        if spec.sampling != Sampling():
            raise ModelError(
                f"model {spec.label}: nothing is generated under answer_mode=loglikelihood, so that it has no "
                f"{_given(spec.sampling)}"
            )
        length: Any = read.choice("length", "none", LENGTHS)
        return Made(ByLikelihood(model, context, length=length), spec.sampling)
    if "length" in spec.options:
        raise ModelError(f"model {spec.label}: the option length belongs to answer_mode=loglikelihood")
    family = find_family(spec, registry)
    sampling = complete(spec.sampling, family[1].settings) if family else spec.sampling
    if adapter is not None and not sampling.stop:
        sampling = replace(sampling, stop=adapter.stop)
    return Made(model, sampling, family[0] if family and sampling != spec.sampling else None)


def complete(sampling: Sampling, settings: Mapping[str, JsonValue]) -> Sampling:
    """Fill in the settings that are not given; greedy decoding takes none that shape a random choice."""
    unset = {name: value for name, value in settings.items() if getattr(sampling, name) == getattr(Sampling(), name)}
    if sampling.temperature == 0:
        unset = {name: value for name, value in unset.items() if name not in ("top_p", "top_k", "min_p")}
    return replace(sampling, **unset)


def _refuse_generation(spec: ModelSpec) -> None:
    """Refuse settings of generation and of answers where nothing is generated."""
    if spec.sampling != Sampling():
        raise unknown_option(spec.name, _given(spec.sampling), (), sampling=False)
    for name in COMMON:
        if name in spec.options:
            raise unknown_option(spec.name, name, (), sampling=False)


def _given(sampling: Sampling) -> str:
    return next(name for name in SAMPLING_NAMES if getattr(sampling, name) != getattr(Sampling(), name))
