"""Scripts, the style sheet and the plot library, copied as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
VENDORED = {
    "d3-7.9.2.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1",
    "plot-0.6.17.umd.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
}
"""SHA-256 of `d3 <https://d3js.org>`_ and `Observable Plot <https://observablehq.com/plot>`_, both of the ISC licence.

They are their authors' own builds: ``dist/d3.min.js`` of the npm package d3 7.9.2 and ``dist/plot.umd.min.js`` of
@observablehq/plot 0.6.17."""


def write_assets(folder: Path) -> None:
    """Copy all assets, licences included."""
    shutil.copytree(ASSETS, folder)
