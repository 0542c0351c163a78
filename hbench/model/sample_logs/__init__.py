"""Answers in other frameworks' sample logs: lm-eval's and Inspect's."""

from __future__ import annotations

from hbench.model.sample_logs.find import LogFile, find_logs
from hbench.model.sample_logs.model import SampleLogs

__all__ = ["LogFile", "SampleLogs", "find_logs"]
