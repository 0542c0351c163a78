"""One call from tasks and models to scores."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hbench.core import DataError, InvalidPolicy, JsonValue, Model, ModelError, SelectionError
from hbench.core.errors import foreign
from hbench.data.choice import DataChoice
from hbench.execute import Executor, Hiring
from hbench.run.asked import Asked
from hbench.run.context import PlanContext
from hbench.run.entrant import Entrant
from hbench.run.entrants import make_entrants
from hbench.run.execute import Stopped, execute
from hbench.run.fits import write_reports
from hbench.run.folder import RunFolder, default_folder
from hbench.run.journal import Journal
from hbench.run.manifest import MANIFEST, check_same_plan, make_manifest, now, read_manifest
from hbench.run.opening import open_plan
from hbench.run.plan import Plan, Settings
from hbench.run.progress import Progress, Silent
from hbench.run.results import Results, score_run
from hbench.run.scoring import check_truths
from hbench.run.spread import spread

if TYPE_CHECKING:
    import pandas as pd

    from hbench.model import ModelSpec
    from hbench.plugin import Registry

JOURNAL = "journal.sqlite"
BATCHES = "batches"


def has_journal(path: Path) -> bool:
    """Tell whether a run's folder holds a journal; an empty file, as a copy that failed leaves, is none."""
    journal = path / JOURNAL
    return journal.is_file() and journal.stat().st_size > 0


@dataclass(frozen=True)
class Result:
    """What an evaluation gives back.

    Attributes
    ----------
    path : Path
        The run's folder.
    results : Results
        Scores and what belongs to them.
    asked : mapping
        What became of each model's turn, by label; empty for stored runs.
    """

    path: Path
    results: Results
    asked: Mapping[str, Asked]

    @property
    def scores(self) -> list[dict[str, JsonValue]]:
        """Tidy rows, one score each."""
        return self.results.rows

    def to_pandas(self) -> pd.DataFrame:
        """Return the scores as a data frame, one row each.

        Raises
        ------
        SelectionError
            When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise SelectionError("data frames need pandas", hint="pip install 'hbench[data]'") from error
        return pd.DataFrame(self.scores)

    def __repr__(self) -> str:
        return f"<hbench result: {len(self.scores)} scores in {self.path}>"


@dataclass(frozen=True)
class Job:
    """An evaluation made ready: everything is opened, nothing is asked yet."""

    plan: Plan
    models: tuple[tuple[Entrant, Model], ...]
    specs: tuple[str, ...]
    choices: tuple[DataChoice, ...]
    include_paths: tuple[Path, ...]
    notices: Mapping[str, tuple[str, ...]]
    registry: Registry
    path: Path

    @property
    def entrants(self) -> list[Entrant]:
        """The models as the journal knows them."""
        return [entrant for entrant, _ in self.models]


def prepare(
    tasks: str | Sequence[str],
    models: str | Model | ModelSpec | Sequence[str | Model | ModelSpec],
    *,
    data: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    settings: Settings | None = None,
    include_paths: Sequence[str | PathLike[str]] = (),
    out: str | PathLike[str] | None = None,
    registry: Registry | None = None,
    skip_absent: bool = False,
    batch_api: bool = False,
    executor: Executor | None = None,
) -> Job:
    """Open tasks, data and models, read the first true answers of each task, and name the folder of the run.

    `batch_api`: models that generate are asked through their providers' batch APIs. `executor`: where models that
    generate have their workers, and learners are fitted; None: in this process.
    """
    from hbench.plugin import default_registry

    registry = registry or default_registry()
    chosen = [data] if isinstance(data, str | PathLike) else list(data)
    choices = tuple(DataChoice.parse(str(choice)) for choice in chosen)
    paths = tuple(Path(path) for path in include_paths)
    plan, notices = open_plan(
        tasks, choices, settings or Settings(), registry=registry, include_paths=paths, skip_absent=skip_absent
    )
    for planned in plan.tasks:
        with foreign("reading the first true answers", DataError, task=planned.name):
            check_truths(planned, registry=registry)
    given = list(models) if isinstance(models, Sequence) and not isinstance(models, str) else [models]
    if not given:
        raise SelectionError("no model is given", hint="Name one, as in --model marginal.")
    made = make_entrants(given, plan, PlanContext(plan, registry, executor), registry=registry)
    entrants = [entrant for entrant, _ in made]
    path = (
        Path(out)
        if out is not None
        else default_folder(
            [planned.name for planned in plan.tasks], [entrant.label for entrant in entrants], plan.digest(entrants)
        )
    )
    if batch_api:
        _use_batches(made, path)
    elif isinstance(executor, Hiring):
        made = [
            (entrant, spread(entrant.label, model, words, plan, executor))
            for words, (entrant, model) in zip(given, made, strict=True)
        ]
    return Job(plan, tuple(made), tuple(_words(model) for model in given), choices, paths, notices, registry, path)


def run(
    job: Job, *, progress: Progress | None = None, command: Sequence[str] = (), max_cost: float | None = None
) -> Result:
    """Ask what the journal does not know yet, then score; `max_cost` (US dollars) is for all models and sessions.

    Raises
    ------
    Stopped
        On Ctrl-C or SIGTERM; all answers are in the journal, and the same call goes on from there.
    RunError
        When the folder or the journal cannot be used.
    """
    with RunFolder(job.path) as folder:
        manifest = make_manifest(
            job.plan,
            job.entrants,
            job.specs,
            job.choices,
            registry=job.registry,
            include_paths=job.include_paths,
            notices=job.notices,
            command=command,
        )
        if (folder.path / MANIFEST).exists():
            stored = read_manifest(folder.path)
            check_same_plan(manifest, stored, folder.path)
            manifest["started"] = stored["started"]
        folder.write(MANIFEST, manifest)
        journal = Journal(folder.path / JOURNAL)
        try:
            _limit_spending(job, journal, max_cost)
            try:
                asked = execute(job.plan, job.models, journal, progress or Silent())
            except Stopped:
                folder.write(MANIFEST, {**manifest, "status": "stopped", "finished": now()})
                raise
            finally:
                write_reports(folder, job.models)
            gave_up = {label: str(turn.error) for label, turn in asked.items() if turn.error is not None}
            results = score_run(
                job.plan,
                job.entrants,
                journal,
                folder,
                registry=job.registry,
                gave_up=gave_up,
                notices=job.notices,
            )
            spent = {entrant.label: journal.spend(entrant.label) for entrant in job.entrants}
        finally:
            journal.close()
        manifest["status"] = "incomplete" if gave_up else "done"
        manifest["finished"] = now()
        for about in manifest["models"]:
            spend = spent[about["label"]]
            about["spent"] = {
                "answers": spend.answers,
                "tokens_in": spend.tokens_in,
                "tokens_out": spend.tokens_out,
                "cost": spend.cost,
            }
        folder.write(MANIFEST, manifest)
    return Result(job.path, results, asked)


def _use_batches(made: Sequence[tuple[Entrant, Model]], path: Path) -> None:
    """Have models that generate ask in batches; what was sent is remembered in the run's folder."""
    for entrant, model in made:
        use = getattr(model, "use_batches", None)
        if use is not None:
            use(path / BATCHES / entrant.slug)
        elif getattr(model, "generative", False):
            raise ModelError(f"model {entrant.label}: there is no batch API for it", hint="leave --batch-api out")


def _limit_spending(job: Job, journal: Journal, max_cost: float | None) -> None:
    """Tell models what was spent on them before, and what all of them may spend together."""
    from hbench.model.limits import Spend

    before = {entrant.label: journal.spend(entrant.label).cost or 0.0 for entrant in job.entrants}
    shared = None if max_cost is None else Spend(limit=max_cost, spent=sum(before.values()))
    for entrant, model in job.models:
        limit = getattr(model, "limit_spending", None)
        if limit is not None:
            limit(before[entrant.label], shared)


def evaluate(
    tasks: str | Sequence[str],
    models: str | Model | ModelSpec | Sequence[str | Model | ModelSpec],
    *,
    data: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    limit: int | None = None,
    draws: int | None = None,
    seed: int = 42,
    sample: Literal["eval", "all"] = "eval",
    splits: Sequence[str] = (),
    repairs: Iterable[str] = (),
    policy: InvalidPolicy | None = None,
    without: Sequence[str] = (),
    answer_mode: Literal["text", "loglikelihood"] = "text",
    include_paths: Sequence[str | PathLike[str]] = (),
    out: str | PathLike[str] | None = None,
    max_cost: float | None = None,
    registry: Registry | None = None,
    progress: Progress | None = None,
    skip_absent: bool = False,
    batch_api: bool = False,
    executor: Executor | None = None,
) -> Result:
    """Evaluate models on tasks.

    The same call finds the same run folder and asks only for what is missing. Works in notebooks too.

    Parameters
    ----------
    tasks : str or sequence of str
        Names, globs, ``@words``, as on the command line.
    models : str, Model or sequence of them
        Words like ``marginal`` or ``openai:NAME,base_url=URL``, or objects that follow `hbench.core.Model`.
    data : str, path or sequence of them
        ``[SUITE=]KIND`` or a folder in a released layout; empty: each suite's default.
    limit, draws, seed, sample, splits, repairs, policy, without, answer_mode
        See `hbench.run.Settings`.
    include_paths : sequence of path
        Further folders of tasks.
    out : path or None
        Folder of the run (default: ``runs/<slug>-<hash of the plan>``).
    max_cost : float or None
        US dollars above which no further request is sent, over all models and sessions of the run; needs prices.
    registry : Registry or None
        Components (default: those of all installed plugins).
    progress : Progress or None
        Is told what happens.
    skip_absent : bool
        Whether tasks whose data are not there are left out, and named beside the scores, instead of ending the run.
    batch_api : bool
        Whether models that generate are asked through their providers' batch APIs: half the price, an answer in a day.
    executor : Executor or None
        Where models that generate have their workers, and learners are fitted (default: in this process).

    Returns
    -------
    Result
        With ``.scores``, ``.to_pandas()`` and ``.path``; from `hbench.evaluate` also with ``.table()``.

    Raises
    ------
    HbenchError
        For whatever the user can mend: a name, a spec, data, a model, a folder.
    """
    settings = Settings(
        limit=limit,
        draws=draws,
        seed=seed,
        sample=sample,
        splits=tuple(splits),
        repairs=frozenset(repairs),
        policy=policy,
        without=tuple(without),
        answer_mode=answer_mode,
    )
    job = prepare(
        tasks,
        models,
        data=data,
        settings=settings,
        include_paths=include_paths,
        out=out,
        registry=registry,
        skip_absent=skip_absent,
        batch_api=batch_api,
        executor=executor,
    )
    return run(job, progress=progress, command=sys.argv[:1], max_cost=max_cost)


def _words(model: Any) -> str:
    return (
        model
        if isinstance(model, str)
        else str(getattr(model, "text", "") or getattr(model, "name", type(model).__name__))
    )
