"""The notebook runs from its first cell to its last, and is kept without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "from-raw-data-to-figures.ipynb"


def test_it_is_kept_without_outputs() -> None:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 8
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.slow
def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for package in ("ipykernel", "polars", "sklearn", "xgboost", "matplotlib"):
        pytest.importorskip(package)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = {
        cell.source: "".join(output.get("text", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    (intervals,) = (text for source, text in said.items() if "Comparison.load" in source)
    lines = {
        line.split()[0]: [float(word) for word in line.split() if word[0].isdigit()] for line in intervals.splitlines()
    }
    assert set(lines) == {"no_change", "marginal", "linear", "lasso", "xgboost,preset=demo"}
    assert lines["no_change"] == [1, 1, 1]
    assert all(low <= value <= high for value, low, high in lines.values())
    (notices,) = (text for source, text in said.items() if "notices_of" in source)
    assert "FRBNY" in notices
    assert "FRED-QD" in notices
    assert list(tmp_path.rglob("relmae.svg"))
