"""Folders in released layouts: recognised, verified, read as they are."""

from __future__ import annotations

from hbench.data.layouts.behaviorbench import BehaviorBench
from hbench.data.layouts.householdbench_eval import HouseholdBenchEval
from hbench.data.layouts.householdbench_full import HouseholdBenchFull
from hbench.data.layouts.layout import Layout
from hbench.data.layouts.records import RecordFolder

__all__ = ["BehaviorBench", "HouseholdBenchEval", "HouseholdBenchFull", "Layout", "RecordFolder"]
