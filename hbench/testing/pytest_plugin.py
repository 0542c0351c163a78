"""The conformance kit in pytest.

A suite's tests need no more than this::

    import pytest

    pytestmark = pytest.mark.hbench_suite("my_suite")

    def test_conformance(hbench_check):
        hbench_check()

The test runs once for every check. Nothing of hbench is imported by sessions that do not ask for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hbench.testing.subject import SuiteUnderTest

MARK = "hbench_suite"
_Suites = Callable[[pytest.Mark, Path], "SuiteUnderTest"]


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(name, data=None, rows=None): the suite that `hbench_check` and `hbench_suite` are about; "
        "`data` is a kind or folder, `rows` a folder of TASK.json files relative to the test file",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `hbench_check` once for every check."""
    if "hbench_check" in metafunc.fixturenames:
        from hbench.testing.conformance import CHECKS

        metafunc.parametrize("hbench_check", CHECKS, ids=[check.name for check in CHECKS], indirect=True)


@pytest.fixture(scope="session")
def _hbench_suites(tmp_path_factory: pytest.TempPathFactory) -> _Suites:
    """Open each suite once a session, its data in a folder of the session's own."""
    opened: dict[tuple[object, ...], SuiteUnderTest] = {}

    def open_suite(mark: pytest.Mark, beside: Path) -> SuiteUnderTest:
        from hbench.data import Store
        from hbench.testing.subject import SuiteUnderTest

        name, data, rows = mark.args[0], mark.kwargs.get("data"), mark.kwargs.get("rows")
        key = (name, data, rows and beside / rows)
        if key not in opened:
            opened[key] = SuiteUnderTest(
                name,
                data=[data] if data else [],
                rows=beside / rows if rows else None,
                store=Store(tmp_path_factory.mktemp("hbench-data")),
            )
        return opened[key]

    return open_suite


@pytest.fixture
def hbench_suite(request: pytest.FixtureRequest, _hbench_suites: _Suites) -> SuiteUnderTest:
    """Return the suite that the mark ``hbench_suite`` names: its tasks, data, rows and records."""
    mark = request.node.get_closest_marker(MARK)
    if mark is None or not mark.args:
        pytest.fail(f'name the suite: pytestmark = pytest.mark.{MARK}("my_suite")', pytrace=False)
    return _hbench_suites(mark, request.path.parent)


@pytest.fixture
def hbench_check(request: pytest.FixtureRequest, hbench_suite: SuiteUnderTest) -> Callable[[], None]:
    """Return one check of the kit, to be called: it fails with what is wrong, and skips where it cannot tell."""

    def run() -> None:
        verdict = request.param(hbench_suite)
        if verdict.status == "skipped":
            pytest.skip(str(verdict))
        if verdict.status == "failed":
            pytest.fail(str(verdict), pytrace=False)

    return run
