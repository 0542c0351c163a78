"""Statistical learning on predictors: the encoder and the learners that baselines and ESS share."""

from __future__ import annotations

from hbench.learn.features import Encoded, Feature, FeatureEncoder
from hbench.learn.linear import Constant, Fitted, Logit, Ridge
from hbench.learn.simplex import project_to_simplex

__all__ = ["Constant", "Encoded", "Feature", "FeatureEncoder", "Fitted", "Logit", "Ridge", "project_to_simplex"]
