"""The built-in components, registered through the same hook as anyone's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.plugin.hooks import hookimpl

if TYPE_CHECKING:
    from hbench.plugin.scope import Scope

hbench_api = 1

_BASELINES = {
    "marginal": "hbench.model.baselines:Marginal.create",
    "no_change": "hbench.model.baselines:NoChange.create",
    "uniform": "hbench.model.baselines:Uniform.create",
    "history_mean": "hbench.model.history:HistoryMean.create",
    "human_retest": "hbench.model.retest:HumanRetest.create",
    "lasso": "hbench.model.learners:create_lasso",
    "linear": "hbench.model.learners:create_linear",
    "logit_l1": "hbench.model.learners:create_logit_l1",
    "mlp": "hbench.model.learners:create_mlp",
    "random_forest": "hbench.model.learners:create_random_forest",
    "xgboost": "hbench.model.learners:create_xgboost",
}
_COMPONENTS = {
    # Baselines are models like any other; the second kind only lists them by themselves.
    "baseline": _BASELINES,
    "parser": {
        "json_array": "hbench.parse.json_array:JsonArray",
        "probability_vectors": "hbench.parse.json_array:ProbabilityVectors",
        "bracketed_number": "hbench.parse.bracketed:BracketedNumber",
        "bracketed_integer": "hbench.parse.bracketed:BracketedInteger",
        "choice_words": "hbench.parse.choices:ChoiceWords",
        "choice_letters": "hbench.parse.choices:ChoiceLetters",
        "text": "hbench.parse.text:Text",
    },
    "metric": {
        "relmae": "hbench.metric.numeric:RelMAE",
        "nmae": "hbench.metric.numeric:NMAE",
        "mae": "hbench.metric.numeric:MAE",
        "rmse": "hbench.metric.numeric:RMSE",
        "accuracy": "hbench.metric.categorical:Accuracy",
        "macro_f1": "hbench.metric.categorical:MacroF1",
        "tv": "hbench.metric.probability:TotalVariation",
        "wasserstein": "hbench.metric.sample:Wasserstein",
        "spearman": "hbench.metric.sample:Spearman",
        "ks": "hbench.metric.sample:KolmogorovSmirnov",
        "sd_ratio": "hbench.metric.sample:SdRatio",
        "standardised_bias": "hbench.metric.sample:StandardisedBias",
    },
    "aggregator": {
        "mean": "hbench.metric.draws:mean",
        "vote": "hbench.metric.draws:vote",
        "mean_vector": "hbench.metric.draws:mean_vector",
        "population": "hbench.metric.draws:population",
        "none": "hbench.metric.draws:none",
    },
    "model": {
        **_BASELINES,
        "ensemble": "hbench.model.ensemble:Ensemble.create",
        "replay": "hbench.model.replay:Replay.create",
        "anthropic": "hbench.model.anthropic:Anthropic.create",
        "google": "hbench.model.google:Google.create",
        "openai": "hbench.model.openai:OpenAI.create",
        "llamacpp": "hbench.model.llamacpp:create",
        "hf": "hbench.model.lm_eval:create_hf",
        "lm-eval": "hbench.model.lm_eval:create_lm_eval",
        "vllm": "hbench.model.vllm:create_vllm",
        "vllm-server": "hbench.model.vllm_server:VllmServer.create",
    },
    "model_adapter": {
        "no_system": "hbench.model.adapters:NoSystem",
        "plain_text": "hbench.model.adapters:PlainText",
    },
    "family": {
        "deepseek": "hbench.model.families:DEEPSEEK",
        "llama3": "hbench.model.families:LLAMA3",
        "qwen2_5": "hbench.model.families:QWEN2_5",
        "qwen3": "hbench.model.families:QWEN3",
        "qwen3_instruct": "hbench.model.families:QWEN3_INSTRUCT",
        "qwen3_non_thinking": "hbench.model.families:QWEN3_NON_THINKING",
    },
    "executor": {
        "local": "hbench.execute:LocalExecutor.create",
        "ray": "hbench.execute.ray:RayExecutor.create",
    },
    "logger": {
        "tensorboard": "hbench.interop.tensorboard:TensorBoard.create",
        "wandb": "hbench.interop.wandb:WeightsAndBiases.create",
    },
    "leaderboard": {"ranks": "hbench.stat.leaderboard:ranks"},
    "split": {
        "quarter": "hbench.data.splits:quarter",
        "row": "hbench.data.splits:row",
        "subject": "hbench.data.splits:subject",
        "period": "hbench.data.splits:period",
    },
    "layout": {
        "householdbench_eval": "hbench.data.layouts.householdbench_eval:HouseholdBenchEval",
        "householdbench_full": "hbench.data.layouts.householdbench_full:HouseholdBenchFull",
        "behaviorbench": "hbench.data.layouts.behaviorbench:BehaviorBench",
        "records": "hbench.data.layouts.records:RecordFolder",
    },
    "step": {
        "at_least": "hbench.data.steps.bounds:at_least",
        "at_most": "hbench.data.steps.bounds:at_most",
        "attach": "hbench.data.steps.attach:attach",
        "between": "hbench.data.steps.bounds:between",
        "exclude": "hbench.data.steps.bounds:exclude",
        "lags": "hbench.data.steps.lags:lags",
        "one_of": "hbench.data.steps.bounds:one_of",
        "rename": "hbench.data.steps.shape:rename",
        "require": "hbench.data.steps.require:require",
        "sort": "hbench.data.steps.shape:sort",
        "trim": "hbench.data.steps.trim:trim",
        "unique": "hbench.data.steps.unique:unique",
    },
}


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name everything that hbench itself brings."""
    for kind, components in _COMPONENTS.items():
        for name, target in components.items():
            scope.add(kind, name, target)
