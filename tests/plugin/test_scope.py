from __future__ import annotations

import pytest

from hbench.core import PluginError
from hbench.plugin import Scope


def test_components_are_collected() -> None:
    scope = Scope("mine", "my-package", "2.0")
    scope.add("metric", "best", "my_package.metrics:Best.create")
    (found,) = scope.components
    assert (found.qualified, found.target, found.distribution) == (
        "mine/best",
        "my_package.metrics:Best.create",
        "my-package",
    )


@pytest.mark.parametrize(
    ("kind", "target", "told"),
    [
        ("metrik", "a:b", "did you mean 'metric'?"),
        ("zzz", "a:b", "kinds: source, demo"),
        ("metric", "a.b", "not of the form package.module:attribute"),
        ("metric", "a:b()", "not of the form"),
        ("metric", "../a:b", "not of the form"),
    ],
)
def test_what_is_refused(kind: str, target: str, told: str) -> None:
    with pytest.raises(PluginError) as caught:
        Scope("mine", "my-package", "2.0").add(kind, "x", target)
    assert told in str(caught.value)


def test_a_name_is_given_once() -> None:
    scope = Scope("mine", "my-package", "2.0")
    scope.add("metric", "x", "a:b")
    scope.add("parser", "x", "a:b")
    with pytest.raises(PluginError, match="the metric 'x' is registered twice"):
        scope.add("metric", "x", "a:c")
