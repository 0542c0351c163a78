"""Types, protocols and errors that every other package speaks in. No pandas, no input or output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.core.answer import AnswerSpec, Completion, Failure, Outcome, Parsed, Value, Values
    from hbench.core.direction import Better
    from hbench.core.errors import (
        AbsentError,
        DataError,
        HbenchError,
        ModelError,
        PluginError,
        RunError,
        ScoreError,
        SelectionError,
        SpecError,
        TrainingError,
    )
    from hbench.core.metric import Aligned, FloatArray, InvalidPolicy, Metric, SampleMetric
    from hbench.core.model import Deliver, Model, ModelContext, Reporting, TrainingAnswer
    from hbench.core.parser import Parser
    from hbench.core.record import JsonValue, Message, Record
    from hbench.core.request import Request, Sampling
    from hbench.core.seed import stable_seed
    from hbench.core.source import BuildReport, Extracting, Problem, RawFile, Source
    from hbench.core.target import Frozen, Target, TargetKind

__all__ = [
    "AbsentError",
    "Aligned",
    "AnswerSpec",
    "Better",
    "BuildReport",
    "Completion",
    "DataError",
    "Deliver",
    "Extracting",
    "Failure",
    "FloatArray",
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
    "Reporting",
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
    "TrainingError",
    "Value",
    "Values",
    "stable_seed",
]

_ROOM = {
    "AbsentError": "errors",
    "Aligned": "metric",
    "AnswerSpec": "answer",
    "Better": "direction",
    "BuildReport": "source",
    "Completion": "answer",
    "DataError": "errors",
    "Deliver": "model",
    "Extracting": "source",
    "Failure": "answer",
    "FloatArray": "metric",
    "Frozen": "target",
    "HbenchError": "errors",
    "InvalidPolicy": "metric",
    "JsonValue": "record",
    "Message": "record",
    "Metric": "metric",
    "Model": "model",
    "ModelContext": "model",
    "ModelError": "errors",
    "Outcome": "answer",
    "Parsed": "answer",
    "Parser": "parser",
    "PluginError": "errors",
    "Problem": "source",
    "RawFile": "source",
    "Record": "record",
    "Reporting": "model",
    "Request": "request",
    "RunError": "errors",
    "SampleMetric": "metric",
    "Sampling": "request",
    "ScoreError": "errors",
    "SelectionError": "errors",
    "Source": "source",
    "SpecError": "errors",
    "Target": "target",
    "TargetKind": "target",
    "TrainingAnswer": "model",
    "TrainingError": "errors",
    "Value": "answer",
    "Values": "answer",
    "stable_seed": "seed",
}


def __getattr__(name: str) -> Any:
    """Import a type on first use: the command line starts without numpy and pydantic."""
    if name in _ROOM:
        from importlib import import_module

        value = getattr(import_module(f"hbench.core.{_ROOM[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hbench.core' has no attribute {name!r}")
