"""Panels of the real files and of the synthetic ones, built once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("polars", reason="needs hbench[data]")

from hbench.core import BuildReport
from hbench_behaviorbench.sources.bigfive import BigFive
from hbench_behaviorbench.sources.moblab import MobLab


class Built(NamedTuple):
    raw: Path
    panels: Path
    report: BuildReport


def build(raw: Path, panels: Path) -> Built:
    report = BuildReport()
    for source in (BigFive(), MobLab()):
        source.build(raw, panels, report=report)
    return Built(raw, panels, report)


@pytest.fixture(scope="session")
def real(shared_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(shared_dir / "data", tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Built:
    raw = tmp_path_factory.mktemp("raw")
    for source in (BigFive(), MobLab()):
        source.demo(raw, seed=7, scale=0.3)
    return build(raw, tmp_path_factory.mktemp("synthetic"))
