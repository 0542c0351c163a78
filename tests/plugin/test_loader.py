from __future__ import annotations

import importlib
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from hbench.core import PluginError
from hbench.plugin import KINDS, hooks, load_plugins, loader
from hbench.plugin.builtin import hbench_register
from hbench.plugin.scope import Scope

GOOD = """\
from hbench.plugin import hookimpl
@hookimpl
def hbench_register(scope):
    scope.add("metric", "{name}", "math:pi")
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Sources of plugin modules by name; they count as installed."""
    sources: dict[str, str] = {}

    def installed() -> list[EntryPoint]:
        for name, source in sources.items():
            (tmp_path / f"plugin_{name}.py").write_text(source)
            sys.modules.pop(f"plugin_{name}", None)
        importlib.invalidate_caches()
        return [EntryPoint(name, f"plugin_{name}", "hbench") for name in sorted(sources)]

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(loader, "_installed", installed)
    return sources


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("def (", "SyntaxError"),
        (GOOD.replace("hbench_register", "hbench_regster"), "did you mean 'hbench_register'?"),
        ("def hbench_register(scope): pass", "hbench_register is not marked as a hook"),
        (GOOD.replace("(scope)", "(scop)"), "scop"),
        ("hbench_api = 2\n" + GOOD, "it needs version 2 of the plugin API; this hbench has version 1"),
        ("hbench_api = 'new'\n" + GOOD, "it needs version new"),
        (GOOD.replace('"metric"', '"metrik"'), "did you mean 'metric'?"),
        (GOOD + "    raise ValueError\n", "ValueError"),
    ],
)
def test_a_plugin_that_fails_takes_no_other_down(plugins: dict[str, str], source: str, told: str) -> None:
    plugins.update(bad=source.replace("{name}", "half"), fine=GOOD.format(name="whole"))
    registry = load_plugins()
    status = {plugin.name: plugin for plugin in registry.plugins}
    assert (status["bad"].status, status["fine"].status) == ("broken", "ok")
    assert told in status["bad"].error
    assert [info.qualified for info in registry.names("metric")] == ["fine/whole"]
    with pytest.raises(PluginError, match="the plugin 'bad'"):
        load_plugins(strict=True)
    assert load_plugins(strict=True, block=["bad"]).find("metric", "whole")


def test_an_api_of_before_is_fine(plugins: dict[str, str]) -> None:
    plugins["old"] = f"hbench_api = {hooks.HOOK_API}\n" + GOOD.format(name="x")
    assert load_plugins().plugins[0].status == "ok"


def test_which_plugins_load(plugins: dict[str, str]) -> None:
    plugins.update(one=GOOD.format(name="x"), two=GOOD.format(name="y"))
    assert [plugin.status for plugin in load_plugins(allow=["two"]).plugins] == ["disabled", "ok"]
    assert [plugin.status for plugin in load_plugins(block=["two"]).plugins] == ["ok", "disabled"]
    assert [plugin.status for plugin in load_plugins(allow=[]).plugins] == ["disabled", "disabled"]
    with pytest.raises(PluginError, match="there is no plugin called 'tow'") as caught:
        load_plugins(block=["tow"])
    assert "did you mean 'two'?" in str(caught.value)


def test_the_built_in_components_exist() -> None:
    """Each kind is known, and each module is there; most are imported only when something needs them."""
    scope = Scope("hbench", "hbench", "0")
    hbench_register(scope)
    assert {info.kind for info in scope.components} <= set(KINDS)
    for info in scope.components:
        assert importlib.util.find_spec(info.target.partition(":")[0]) is not None, info
