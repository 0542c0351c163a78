"""Types, protocols and errors that every other package speaks in. No pandas, no input or output."""

from __future__ import annotations

from hbench.core.answer import AnswerSpec, Completion, Failure, Outcome, Parsed, Value, Values
from hbench.core.errors import (
    DataError,
    HbenchError,
    ModelError,
    PluginError,
    RunError,
    ScoreError,
    SelectionError,
    SpecError,
)
from hbench.core.metric import Aligned, InvalidPolicy, Metric, SampleMetric
from hbench.core.model import Deliver, Model, ModelContext, TrainingAnswer
from hbench.core.parser import Parser
from hbench.core.record import JsonValue, Message, Record
from hbench.core.request import Request, Sampling
from hbench.core.seed import stable_seed
from hbench.core.source import BuildReport, Problem, RawFile, Source
from hbench.core.target import Frozen, Target, TargetKind

__all__ = [
    "Aligned",
    "AnswerSpec",
    "BuildReport",
    "Completion",
    "DataError",
    "Deliver",
    "Failure",
    "Frozen",
    "HbenchError",
    "InvalidPolicy",
    "JsonValue",
    "Message",
    "Metric",
    "Model",
    "ModelContext",
    "ModelError",
    "Outcome",
    "Parsed",
    "Parser",
    "PluginError",
    "Problem",
    "RawFile",
    "Record",
    "Request",
    "RunError",
    "SampleMetric",
    "Sampling",
    "ScoreError",
    "SelectionError",
    "Source",
    "SpecError",
    "Target",
    "TargetKind",
    "TrainingAnswer",
    "Value",
    "Values",
    "stable_seed",
]
