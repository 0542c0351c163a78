"""Fitted boosters as files: XGBoost's own UBJ and JSON, never pickle, which would run whatever it holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hbench.learn.boosting import BoostedTrees
from hbench.learn.features import Feature, FeatureEncoder
from hbench.learn.packages import library
from hbench.learn.problem import Constant, FitReport, Fitted

_ENCODER = "encoder.json"


def save_encoder(encoder: FeatureEncoder, folder: Path) -> None:
    """Write what an encoder learned; floats are written so that they read back bit for bit."""
    content = {
        "features": [asdict(feature) for feature in encoder.features],
        "levels": encoder.levels,
        "centre": encoder.centre.tolist(),
        "scale": encoder.scale.tolist(),
        "empty": encoder.empty,
    }
    (folder / _ENCODER).write_text(json.dumps(content), encoding="utf-8")


def load_encoder(folder: Path) -> FeatureEncoder:
    """Read an encoder."""
    content = json.loads((folder / _ENCODER).read_text(encoding="utf-8"))
    return FeatureEncoder(
        [Feature(**feature) for feature in content["features"]],
        levels=content["levels"],
        centre=np.array(content["centre"]),
        scale=np.array(content["scale"]),
        empty=content["empty"],
    )


def can_be_saved(fitted: Fitted) -> bool:
    """Tell whether there is a safe format for this fit."""
    return isinstance(fitted, BoostedTrees | Constant)


def save_fit(fitted: Fitted, folder: Path, name: str) -> None:
    """Write ``name.json`` and, for boosters, ``name.ubj``."""
    about: dict[str, Any] = {"report": asdict(fitted.report)}
    if isinstance(fitted, BoostedTrees):
        fitted.booster.save_model(folder / f"{name}.ubj")
        about |= {"kind": fitted.kind, "best": fitted.best}
    elif isinstance(fitted, Constant):
        about |= {"value": np.asarray(fitted.value).tolist(), "classes": fitted.classes}
    else:
        raise TypeError(f"a {type(fitted).__name__} has no safe file format")
    (folder / f"{name}.json").write_text(json.dumps(about), encoding="utf-8")


def load_fit(folder: Path, name: str) -> Fitted:
    """Read a fit that `save_fit` wrote."""
    about = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    report = FitReport(**about["report"])
    if "value" in about:
        value = about["value"]
        return Constant(np.array(value) if isinstance(value, list) else value, report, about["classes"])
    booster = library("xgboost", learner="xgboost").Booster()
    booster.load_model(folder / f"{name}.ubj")
    return BoostedTrees(booster, about["kind"], about["best"], report)
