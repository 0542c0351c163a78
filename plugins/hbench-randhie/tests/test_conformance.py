"""Everything that hbench demands of a suite."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.hbench_suite("randhie")


def test_conformance(hbench_check) -> None:
    hbench_check()
