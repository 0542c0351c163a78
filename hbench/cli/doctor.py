"""`hbench doctor`: whether this installation can do what it is asked to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import click

from hbench.cli.doctor_models import Finding, back_ends, examine_model, installed
from hbench.cli.terminal import say, say_json

EXTRAS = {
    "data": ("pandas", "polars", "pyarrow", "python-calamine", "pyreadstat", "duckdb", "datasets"),
    "learners": ("scikit-learn", "scipy", "xgboost"),
    "lm-eval": ("lm-eval", "transformers", "accelerate", "torch"),
    "vllm": ("vllm",),
    "plots": ("matplotlib",),
    "llamacpp": ("llama-cpp-python",),
    "ray": ("ray",),
}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")


@click.command("doctor")
@click.option("--model", "models", multiple=True, metavar="SPEC", help="A model to check as well; repeatable.")
@click.option("--network", is_flag=True, help="Ask servers whether they answer; models are not asked.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(models: Sequence[str], network: bool, as_json: bool) -> None:
    """Check Python, extras, folders, plugins, tasks and back ends; exits with 1 where something is wrong."""
    findings = list(examine(models, network=network))
    if as_json:
        say_json([finding._asdict() for finding in findings])
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            say(f"{finding.status:<5} {finding.what:<{width}}  {finding.text}")
    if any(finding.status == "bad" for finding in findings):
        raise click.exceptions.Exit(1)


def examine(models: Sequence[str] = (), *, network: bool = False) -> Iterator[Finding]:
    """Yield everything worth knowing, also about the models that these words name."""
    from hbench.plugin import default_registry

    yield Finding("ok", "hbench", version("hbench"))
    yield Finding("ok", "python", f"{sys.version.split()[0]} ({sys.executable})")
    yield from _extras()
    yield from _folders()
    yield from _plugins()
    yield from _tasks()
    for key in KEYS:
        # Only whether it is there: a key must never reach a log.
        present = bool(os.environ.get(key))
        yield Finding("ok" if present else "note", key, "set" if present else "not set")
    registry = default_registry()
    yield from back_ends(registry, network=network)
    for words in models:
        yield from examine_model(words, words.partition(",")[0], registry, network=network)


def _extras() -> Iterator[Finding]:
    for extra, packages in EXTRAS.items():
        versions = {package: installed(package) for package in packages}
        present = ", ".join(f"{package} {number}" for package, number in versions.items() if number)
        missing = ", ".join(package for package, number in versions.items() if number is None)
        if not missing:
            yield Finding("ok", f"extra {extra}", present)
            continue
        absent = f"{missing} missing (pip install 'hbench[{extra}]')"
        yield Finding("note", f"extra {extra}", f"{present}; {absent}" if present else absent)


def _folders() -> Iterator[Finding]:
    from hbench.data import Store
    from hbench.spec.cache import cache_folder

    for name, folder in (("store", Store().root), ("cache", cache_folder(os.environ)), ("runs", Path("runs"))):
        # A folder that is not there yet is made in the nearest one that is.
        near = next((above for above in (folder.absolute(), *folder.absolute().parents) if above.exists()), Path("/"))
        writable = near.is_dir() and os.access(near, os.W_OK | os.X_OK)
        where = str(folder) if near == folder.absolute() else f"{folder} (not made yet)"
        yield Finding("ok" if writable else "bad", name, where if writable else f"{folder} cannot be written")


def _plugins() -> Iterator[Finding]:
    from hbench.plugin import default_registry

    for plugin in default_registry().plugins:
        origin = f"{plugin.distribution} {plugin.version}"
        if plugin.status == "broken":
            yield Finding("bad", f"plugin {plugin.name}", f"{origin}: {plugin.error}")
        else:
            text = origin if plugin.status == "ok" else f"{origin}, {plugin.status}"
            yield Finding("ok", f"plugin {plugin.name}", text)


def _tasks() -> Iterator[Finding]:
    from hbench.spec import discover

    index = discover()
    yield Finding("ok", "tasks", f"{len(index.entries)} in {len(index.suites())} suites")
    for file in index.broken:
        yield Finding("bad", f"task {file.name}", str(file.error()))
    for name, entries in index.clashes.items():
        yield Finding("bad", f"task {name}", "claimed by " + ", ".join(str(entry.path) for entry in entries))
