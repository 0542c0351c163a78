from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2])
def test_mild_designs_are_covered(benchmark: ModuleType, number: int) -> None:
    """A quick version of the benchmark: 200 samples, whose coverage has a standard error of 1.5 points."""
    design = benchmark.DESIGNS[number]
    assert design.mild
    found = benchmark.coverage(design, samples=200, draws=300, seed=3)
    for kind, (share, _) in found.items():
        assert 0.91 <= share <= 0.985, (design.name, kind)
