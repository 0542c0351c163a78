"""Language models, statistical baselines and replays behind one protocol."""

from __future__ import annotations

from hbench.model.adapters import ModelAdapter
from hbench.model.delivery import deliver_all
from hbench.model.families import Family
from hbench.model.make import Made, make_model
from hbench.model.options import Options, read_sampling
from hbench.model.spec import ModelSpec, file_name

__all__ = [
    "Family",
    "Made",
    "ModelAdapter",
    "ModelSpec",
    "Options",
    "deliver_all",
    "file_name",
    "make_model",
    "read_sampling",
]
