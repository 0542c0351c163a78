from __future__ import annotations

import pytest

from hbench.core import PluginError
from hbench.plugin import ComponentInfo, PluginInfo, Registry


def info(suite: str, name: str, distribution: str = "", target: str = "math:pi") -> ComponentInfo:
    return ComponentInfo("metric", name, suite, target, distribution or suite, "1.0")


REGISTRY = Registry(
    [
        info("hbench", "mae"),
        info("one", "mae"),
        info("one", "agree"),
        info("two", "agree"),
        info("two", "alone"),
        info("pair", "same", "first"),
        info("pair", "same", "second"),
    ],
    [PluginInfo("poor", "poor-package", "0.1", "broken", "ValueError: no")],
)


@pytest.mark.parametrize(
    ("name", "suite", "found"),
    [
        ("mae", None, "hbench/mae"),
        ("mae", "one", "one/mae"),
        ("mae", "two", "hbench/mae"),
        ("one/mae", "two", "one/mae"),
        ("agree", "two", "two/agree"),
        ("alone", None, "two/alone"),
        ("alone", "one", "two/alone"),
    ],
)
def test_a_bare_name_is_ones_own_then_built_in_then_the_only_one(name: str, suite: str | None, found: str) -> None:
    assert REGISTRY.find("metric", name, suite=suite).qualified == found


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("agree", ["several plugins bring the metric 'agree'", "one/agree (one 1.0)", "two/agree", "qualified name"]),
        ("pair/same", ["pair/same (first 1.0), pair/same (second 1.0)", "uninstall or disable"]),
        ("alon", ["there is no metric called 'alon'", "did you mean 'alone'", "broken plugins", "poor"]),
        ("one/alone", ["there is no metric called 'one/alone'", "two/alone"]),
        ("zzz", ["there are: mae, one/agree"]),
    ],
)
def test_what_cannot_be_found(name: str, told: list[str]) -> None:
    with pytest.raises(PluginError) as caught:
        REGISTRY.find("metric", name)
    for part in told:
        assert part in str(caught.value)


def test_a_component_is_imported_once_when_it_is_used() -> None:
    registry = Registry([info("a", "x", target="tests.plugin.counted:VALUE"), info("a", "pi")])
    assert registry.get("metric", "pi") == pytest.approx(3.14159, abs=1e-5)
    with pytest.raises(PluginError, match=r"cannot be imported from .*: ModuleNotFoundError"):
        registry.get("metric", "x")


@pytest.mark.parametrize("target", ["math:nothing", "no_such_module:x", "math:pi.nothing"])
def test_a_target_that_is_not_there(target: str) -> None:
    registry = Registry([info("a", "x", "package", target)])
    with pytest.raises(PluginError) as caught:
        registry.get("metric", "x")
    assert target in str(caught.value)
    assert "it is part of package 1.0" in str(caught.value)
