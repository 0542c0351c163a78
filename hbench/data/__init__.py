"""The way from raw files to records: store, records, sample steps, splits, samples, released layouts."""

from __future__ import annotations

from hbench.data.choice import DataChoice
from hbench.data.context import StepContext, adds_rows, on_pandas
from hbench.data.files import content_digest
from hbench.data.fingerprint import fingerprint, spec_digest
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.opening import open_data, open_folder
from hbench.data.records import read_records, write_records
from hbench.data.store import Store
from hbench.data.taskdata import TaskData, TaskReader
from hbench.data.truth import target_values

__all__ = [
    "DataChoice",
    "Funnel",
    "FunnelRow",
    "StepContext",
    "Store",
    "TaskData",
    "TaskReader",
    "adds_rows",
    "content_digest",
    "fingerprint",
    "on_pandas",
    "open_data",
    "open_folder",
    "read_records",
    "spec_digest",
    "target_values",
    "write_records",
]
