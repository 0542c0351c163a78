"""Two small sites, made once: one with splits, groups and invalid answers, one whose every text is made to do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.site.making import HOSTILE, Made, hostile_run, make_site


@pytest.fixture(scope="session")
def site(big_study: tuple[object, Path], tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return the site of the big study's run."""
    return make_site(big_study[1], tmp_path_factory.mktemp("sites") / "study", "A study")


@pytest.fixture(scope="session")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a site whose every text is hostile."""
    run = hostile_run(tmp_path_factory.mktemp("hostile"))
    return make_site(run, tmp_path_factory.mktemp("sites") / "hostile", HOSTILE)
