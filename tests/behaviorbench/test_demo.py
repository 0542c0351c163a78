"""Synthetic raw files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hbench_behaviorbench.sources.bigfive import BACKGROUND, ITEM_COLUMNS, BigFive
from hbench_behaviorbench.sources.moblab import MobLab

from .conftest import Built, build

pl = pytest.importorskip("polars")


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("source", [BigFive(), MobLab()])
def test_a_seed_repeats(source: BigFive | MobLab, tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        source.demo(tmp_path / name, seed=seed, scale=0.1)
    one, same, other = (written(tmp_path / name) for name in ("one", "same", "other"))
    assert one == same
    assert one.keys() == other.keys()
    assert one != other


@pytest.mark.shared
@pytest.mark.parametrize(
    "path",
    [
        "bigfive/bigfive_data.csv",
        "moblab/dictator.csv",
        "moblab/ultimatum_strategy.csv",
        "moblab/gpl3/bomb_risk.csv",
    ],
)
def test_the_layout_is_that_of_the_real_file(path: str, synthetic: Built, real: Built) -> None:
    first = [(folder / path).read_text(encoding="utf-8").split("\n", 1)[0] for folder in (synthetic.raw, real.raw)]
    assert first[0] == first[1].rstrip("\r")


@pytest.mark.shared
def test_the_item_files_are_those_of_the_instrument(synthetic: Built, real: Built) -> None:
    for path in ("bigfive/bigfive.tsv", "bigfive/bigfive_IPIP.tsv"):
        lines = [sorted((folder / path).read_text("utf-8").split("\n")) for folder in (synthetic.raw, real.raw)]
        assert [line for line in lines[0] if line] == [line for line in lines[1] if line]


def test_respondents_resemble_people(synthetic: Built) -> None:
    panel = pl.read_parquet(synthetic.panels / "bigfive.parquet")
    assert panel.select(pl.col(ITEM_COLUMNS).is_between(1, 5).all()).row(0) == (True,) * 50
    assert panel.select(pl.corr("Extraversion", "Neuroticism")).item() < -0.05
    women = panel.filter(pl.col("gender") == "female")["Neuroticism"].mean()
    assert women > panel.filter(pl.col("gender") == "male")["Neuroticism"].mean()
    assert 18 <= panel["age"].median() <= 26
    assert set(BACKGROUND) <= set(
        (synthetic.raw / "bigfive/bigfive_data.csv").read_text().split("\n", 1)[0].split("\t")
    )


def test_every_irregularity_occurs(synthetic: Built) -> None:
    counts = synthetic.report.counts
    assert counts["bigfive.blank"] == 1
    assert counts["bigfive.implausible_age"] >= 3
    for name in ("decisions", "L2", "L3", "L4"):
        levels = ("raw", "decisions", "L1", "L2", "L3", "L4")
        before = levels[levels.index(name) - 1]
        assert counts[f"dictator.{name}"] < counts[f"dictator.{before}"], name
    assert counts["ultimatum.L1"] < counts["ultimatum.raw"]
    assert counts["bomb.L1.subject"] < counts["bomb.L1.play"] < counts["bomb.raw"]


def test_the_default_size_is_quick(tmp_path: Path) -> None:
    start = time.perf_counter()
    for source in (BigFive(), MobLab()):
        source.demo(tmp_path, seed=0, scale=1.0)
    build(tmp_path, tmp_path / "panels")
    assert time.perf_counter() - start < 10
