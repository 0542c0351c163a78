"""The built-in metrics by name; the registry lists the same classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hbench.metric.categorical import Accuracy, MacroF1
from hbench.metric.numeric import MAE, NMAE, RMSE, RelMAE
from hbench.metric.probability import TotalVariation
from hbench.metric.sample import KolmogorovSmirnov, SdRatio, Spearman, StandardisedBias, Wasserstein

BUILTIN: Mapping[str, Callable[[], Any]] = {
    "accuracy": Accuracy,
    "ks": KolmogorovSmirnov,
    "macro_f1": MacroF1,
    "mae": MAE,
    "nmae": NMAE,
    "relmae": RelMAE,
    "rmse": RMSE,
    "sd_ratio": SdRatio,
    "spearman": Spearman,
    "standardised_bias": StandardisedBias,
    "tv": TotalVariation,
    "wasserstein": Wasserstein,
}
