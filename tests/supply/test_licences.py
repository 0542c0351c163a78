from __future__ import annotations

from email.message import Message
from types import SimpleNamespace
from typing import Any

import pytest

from .closure import Closure, closure
from .licences import PAGE, faults, is_allowed, licence_of, page, unlisted

FILES = {"licenses/LICENSE": "MIT License\n\nCopyright (c) 2022", "licenses/OTHER": "All rights reserved."}


def package(**fields: Any) -> Any:
    """Return a distribution with some metadata."""
    about = Message()
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            about[name.replace("_", "-")] = value
    return SimpleNamespace(metadata=about, version="1", read_text=FILES.get)


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License_Expression": "Apache-2.0 AND MIT"}, "Apache-2.0 AND MIT"),
        ({"License": "MPL-2.0 AND MIT"}, "MPL-2.0 AND MIT"),
        ({"License": "Apache License, Version 2.0"}, "Apache-2.0"),
        ({"License": "MIT License\n        \n        Copyright (c) 2022"}, "MIT"),
        ({"License": "Copyright (c) 2015", "Classifier": "License :: OSI Approved :: BSD License"}, "BSD"),
        (
            {
                "License": "Dual License",
                "Classifier": [
                    "License :: OSI Approved :: BSD License",
                    "License :: OSI Approved :: Apache Software License",
                ],
            },
            "BSD OR Apache-2.0",
        ),
        ({"License": "AGPL-3.0-or-later"}, "AGPL-3.0-or-later"),
        ({"License": "UNKNOWN"}, None),
        ({"License": "see the file"}, None),
        ({"Classifier": "License :: Other/Proprietary License"}, None),
        ({"License_File": "LICENSE"}, "MIT"),
        ({"License": "LICENSE", "License_File": "LICENSE"}, "MIT"),
        ({"License_File": ["OTHER", "ABSENT"]}, None),
        ({}, None),
    ],
)
def test_a_licence_is_read_from_whatever_field_tells_it(fields: dict[str, Any], licence: str | None) -> None:
    assert licence_of(package(**fields)) == licence


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 AND MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only OR SSPL-1.0", False),
        ("Apache-2.0 AND (MIT OR GPL-2.0-only)", False),
        ("Apache-2.0 WITH LLVM-exception AND BSD-2-Clause", True),
        ("AGPL-3.0-or-later", False),
        ("UNKNOWN", False),
    ],
)
def test_licences_that_hold_together_must_all_be_allowed(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_unknown_and_refused_licences_are_faults_but_for_tools_of_development() -> None:
    found = Closure(
        {"good": package(License="MIT"), "secret": package(), "viral": package(License="AGPL-3.0-or-later")},
        {"good": {"core"}, "secret": {"data"}, "viral": {"test"}},
    )
    assert faults(found) == ["secret 1: its metadata do not tell its licence"]
    found.needed_by["viral"].add("data")
    assert faults(found)[1] == "viral 1: AGPL-3.0-or-later is not allowed (needed for data, test)"
    del found.found["secret"]
    assert unlisted(found, page(found)) == []
    assert unlisted(found, page(found).replace("AGPL", "MIT")) == [
        "viral: docs/licences.md does not list it under AGPL-3.0-or-later"
    ]


def test_the_core_needs_what_pyproject_says_and_no_more() -> None:
    needed = {name for name, why in closure().needed_by.items() if "core" in why}
    assert {"aiohttp", "click", "jinja2", "numpy", "pluggy", "pydantic", "pyyaml", "rich"} <= needed
    assert not needed & {"pandas", "torch", "pytest", "xgboost", "datasets", "scikit-learn"}


@pytest.mark.packaging
def test_every_installed_dependency_is_listed_under_an_allowed_licence() -> None:
    found = closure()
    assert len(found.found) > 40
    assert faults(found) + unlisted(found, PAGE.read_text(encoding="utf-8")) == []
