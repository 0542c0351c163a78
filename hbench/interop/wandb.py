"""`--log wandb:project=NAME[,entity=...,name=...,step=N,answers=true]`: scores in Weights & Biases."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from typing import Any

from hbench.core import JsonValue, RunError, SelectionError
from hbench.interop.logged_run import LoggedModel, LoggedRun
from hbench.model.options import Options

_COLUMNS = ("task", "id", "time", "draw", "prediction", "values", "error", "reasoning")


class WeightsAndBiases:
    """Makes one run of Weights & Biases for each model, grouped by the run folder's name.

    Scores, validity, cost and configuration are sent, nothing else: no source code, no output of the terminal, no
    state of the machine. The key is taken from the environment (``WANDB_API_KEY``); ``WANDB_MODE=offline`` needs none
    and writes to the disk alone.

    Parameters
    ----------
    project : str
        The project.
    entity : str or None
        User or team.
    name : str or None
        The group's name (default: the run folder's).
    step : int or None
        The training step of a checkpoint.
    answers : bool
        Whether the answers are sent too, as a table.
    """

    def __init__(
        self, project: str, *, entity: str | None = None, name: str | None = None, step: int | None = None,
        answers: bool = False,
    ) -> None:  # fmt: skip
        self.project, self.entity, self.name, self.step, self.answers = project, entity, name, step, answers

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue]) -> WeightsAndBiases:
        """Check options and the installation."""
        read = Options("wandb", options)
        project = read.text("project", argument)
        if not project:
            raise SelectionError("--log wandb: which project? Write wandb:project=NAME")
        step = read.integer("step", 0, least=0) if "step" in options else None
        made = cls(project, entity=read.text("entity"), name=read.text("name"), step=step, answers=read.flag("answers"))
        read.finish(sampling=False)
        if importlib.util.find_spec("wandb") is None:
            raise SelectionError("--log wandb needs wandb", hint="pip install 'hbench[wandb]'")
        if os.environ.get("WANDB_MODE", "online") == "online" and not os.environ.get("WANDB_API_KEY"):
            # Asked for at the end of a long run, a key would come too late.
            raise SelectionError("--log wandb: there is no key", hint="set WANDB_API_KEY, or WANDB_MODE=offline")
        return made

    def log(self, run: LoggedRun) -> str:
        """Send a run's models.

        Raises
        ------
        RunError
            When Weights & Biases cannot be reached or refuses the key.
        """
        import wandb

        places = []
        for model in run.models:
            try:
                places.append(self._log(wandb, run, model))
            except wandb.Error as error:
                raise RunError(
                    f"Weights & Biases does not take the scores of {model.label}: {error}",
                    hint="The scores are in the run's folder all the same; the same command logs them again.",
                ) from error
        return ", ".join(places)

    def _log(self, wandb: Any, run: LoggedRun, model: LoggedModel) -> str:
        quiet = wandb.Settings(
            console="off", disable_code=True, disable_git=True, disable_job_creation=True, save_code=False, silent=True,
            x_disable_meta=True, x_disable_stats=True, x_disable_machine_info=True, x_save_requirements=False,
        )  # fmt: skip
        config = {**run.config, "model": model.label, **model.config, "undefined": model.undefined}
        sent = wandb.init(
            project=self.project, entity=self.entity, group=self.name or run.name, name=model.label, config=config,
            job_type="hbench", reinit="create_new", settings=quiet,
        )  # fmt: skip
        try:
            sent.log(dict(model.scalars), step=self.step)
            if self.answers:
                sent.log({"answers": _table(wandb, run, model)}, step=self.step)
            return str(sent.url or sent.dir)
        finally:
            sent.finish()


def _table(wandb: Any, run: LoggedRun, model: LoggedModel) -> Any:
    rows = [[_cell(row.get(name)) for name in _COLUMNS] for row in run.answers() if row["model"] == model.label]
    return wandb.Table(columns=list(_COLUMNS), data=rows)


def _cell(value: JsonValue) -> str:
    """Return a cell as text: columns of a table have one type."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
