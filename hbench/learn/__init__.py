"""Statistical learning on predictors: the encoder and the learners that baselines and ESS share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.learn.boosting import BoostedTrees, Boosting
from hbench.learn.calibration import CalibrationBin, calibration
from hbench.learn.features import Encoded, Feature, FeatureEncoder
from hbench.learn.forest import RandomForest
from hbench.learn.linear import Lasso, Logit, LogitL1, Ridge
from hbench.learn.network import Network
from hbench.learn.problem import Constant, FitReport, Fitted, Kind, Learner, Sample
from hbench.learn.rows import Cells, Rows, read_cells
from hbench.learn.simplex import project_to_simplex

if TYPE_CHECKING:
    from hbench.learn.estimator import TabularClassifier, TabularRegressor

__all__ = [
    "BoostedTrees",
    "Boosting",
    "CalibrationBin",
    "Cells",
    "Constant",
    "Encoded",
    "Feature",
    "FeatureEncoder",
    "FitReport",
    "Fitted",
    "Kind",
    "Lasso",
    "Learner",
    "Logit",
    "LogitL1",
    "Network",
    "RandomForest",
    "Ridge",
    "Rows",
    "Sample",
    "TabularClassifier",
    "TabularRegressor",
    "calibration",
    "project_to_simplex",
    "read_cells",
]


def __getattr__(name: str) -> Any:
    """Import on first use what needs scikit-learn to be defined."""
    if name in ("TabularClassifier", "TabularRegressor"):
        from hbench.learn import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'hbench.learn' has no attribute {name!r}")
