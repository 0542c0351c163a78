"""The way from raw files to records: store, records, sample steps, splits, samples, released layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.data.choice import DataChoice
from hbench.data.context import StepContext, adds_rows, in_passing, keeps_values, on_pandas
from hbench.data.files import atomic_file, content_digest, raw_files
from hbench.data.fingerprint import fingerprint, spec_digest
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.opening import open_data, open_folder
from hbench.data.records import read_records, write_records
from hbench.data.store import Store
from hbench.data.taskdata import TaskData, TaskReader
from hbench.data.truth import target_values

if TYPE_CHECKING:
    from hbench.data.build import BuildItem, build_many, build_task
    from hbench.data.ragged import check_cells
    from hbench.data.sample import run_steps
    from hbench.data.sources import Recipe

__all__ = [
    "BuildItem",
    "DataChoice",
    "Funnel",
    "FunnelRow",
    "Recipe",
    "StepContext",
    "Store",
    "TaskData",
    "TaskReader",
    "adds_rows",
    "atomic_file",
    "build_many",
    "build_task",
    "check_cells",
    "content_digest",
    "fingerprint",
    "in_passing",
    "keeps_values",
    "on_pandas",
    "open_data",
    "open_folder",
    "raw_files",
    "read_records",
    "run_steps",
    "spec_digest",
    "target_values",
    "write_records",
]

_LAZY = {
    "BuildItem": "build",
    "Recipe": "sources",
    "build_many": "build",
    "build_task": "build",
    "check_cells": "ragged",
    "run_steps": "sample",
}


def __getattr__(name: str) -> Any:
    """Import on first use what only builds need: stored data are read without NumPy."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"hbench.data.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'hbench.data' has no attribute {name!r}")
