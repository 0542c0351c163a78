"""Training sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from hbench.core import HbenchError

Sizes = Sequence[int] | Literal["auto"]
SMALLEST, LARGEST, COUNT = 5, 5_000, 12
"""Of ``auto``."""


def training_sizes(sizes: Sizes, rows: int, *, separate: bool) -> list[int]:
    """Return ascending training sizes.

    ``auto`` takes `COUNT` sizes of equal ratio from `SMALLEST` to half of the rows, so that there are two blocks, but
    at most to `LARGEST`. Sizes that are given may be as large as the sample if the test sample is another one.

    Raises
    ------
    HbenchError
        A size is impossible.
    """
    if isinstance(sizes, str):
        if sizes != "auto":
            raise HbenchError(f"the sizes are {sizes!r}, and must be `auto` or a list of numbers")
        if rows < 2:
            raise HbenchError(f"{rows} rows are too few to train on")
        largest = min(rows // 2, LARGEST)
        steps = np.geomspace(min(SMALLEST, largest), largest, COUNT)
        return [int(size) for size in np.unique(np.rint(steps).astype(np.int64))]
    largest = rows if separate else rows // 2
    wanted = sorted({int(size) for size in sizes})
    if not wanted:
        raise HbenchError("there are no training sizes")
    for size in wanted:
        if not 1 <= size <= largest:
            raise HbenchError(
                f"the training size {size:,} is impossible",
                hint=f"With {rows:,} rows to train on, sizes go from 1 to {largest:,}.",
            )
    return wanted
