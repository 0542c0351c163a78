"""The typed model of a task's YAML."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from hbench.core import AnswerSpec, Frozen, Target, TargetKind
from hbench.core.target import MetricUse

Section = str
"""Part of a prompt that an ablation can leave out: ``demographics``, ``history``, ``macro``, ..."""


class Key(Frozen):
    """Columns that name a record."""

    id: str
    time: str | None = None
    release: str | None = None
    """Column of the release date."""


class FileSource(Frozen):
    """A researcher's own table, read as it is."""

    file: str
    """CSV, TSV or Parquet, relative to the YAML file and below the suite's folder."""
    missing: tuple[str, ...] = ("", "NA")
    """Texts of a CSV that mean a missing value."""


class Predictors(Frozen):
    """Inputs of statistical models and of the prompt that are alike in kind and need."""

    names: tuple[str, ...] = Field(min_length=1)
    kind: Literal["numeric", "categorical"] = "numeric"
    required: bool = True
    lags: int = Field(default=0, ge=0)
    """Deepest lag. ``x`` with two lags means the columns ``x_lag1`` and ``x_lag2``."""
    current: bool = True
    """With lags: whether the current value is an input too."""
    required_lags: int | None = Field(default=None, ge=0)
    """With lags: how many of them, from the first, must be present; deeper ones may be missing (default: all must)."""
    section: Section | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "name" in raw:
            if "names" in raw:
                raise ValueError("give `name` or `names`, not both")
            raw = {**raw, "names": [raw["name"]]}
            del raw["name"]
        elif isinstance(raw, str):
            raw = {"names": [raw]}
        return raw

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, each name with its lags behind it."""
        return tuple(
            column
            for name in self.names
            for column in (
                *((name,) if self.current or not self.lags else ()),
                *(f"{name}_lag{k}" for k in range(1, self.lags + 1)),
            )
        )

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The columns without which a record is none."""
        if not self.required:
            return ()
        if self.required_lags is None:
            return self.columns
        deeper = {f"{name}_lag{k}" for name in self.names for k in range(self.required_lags + 1, self.lags + 1)}
        return tuple(column for column in self.columns if column not in deeper)


class Step(Frozen):
    """One step of the sample construction: a registered function and its parameters."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)
    note: str | None = None
    """Why, in the funnel's words."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, raw: Any) -> Any:
        if isinstance(raw, str):
            return {"name": raw}
        if isinstance(raw, dict) and "name" not in raw:
            note = raw.get("note")
            rest = [key for key in raw if key != "note"]
            if len(rest) != 1:
                raise ValueError("a step has one name, as in `- require: [income]`")
            params = raw[rest[0]]
            if params is None:
                params = {}
            elif not isinstance(params, dict):
                params = {"columns": params} if isinstance(params, list) else {"value": params}
            elif rest[0] in ("at_least", "at_most", "between", "one_of", "exclude"):
                # These read as a table of columns and bounds; the columns are data, not parameter names.
                params = {"bounds": params}
            return {"name": rest[0], "params": params, "note": note}
        return raw


class Split(Frozen):
    """How records are parted: a registered rule and its parameters."""

    unit: str
    """Name of the rule; built in are ``quarter`` and ``row``."""
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "params" not in raw and "unit" in raw:
            return {"unit": raw["unit"], "params": {k: v for k, v in raw.items() if k != "unit"}}
        return raw


class Paragraph(Frozen):
    """Sentences that stand together. A sentence with a missing value is left out, and so is a paragraph without any."""

    sentences: tuple[str, ...] = Field(min_length=1)
    section: Section | None = None
    when: str | None = None
    """A Jinja expression; the paragraph is left out where it is false."""
    join: str = " "

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, raw: Any) -> Any:
        if isinstance(raw, str):
            return {"sentences": [raw]}
        if isinstance(raw, list):
            return {"sentences": raw}
        if isinstance(raw, dict) and "text" in raw:
            raw = {**raw, "sentences": [raw["text"]]}
            del raw["text"]
        return raw


class Prompt(Frozen):
    """The prompt: paragraphs in the YAML, or a template file beside it."""

    system: str | None = None
    paragraphs: tuple[Paragraph, ...] = ()
    template: str | None = None
    """A Jinja file, relative to the YAML file, that renders the user's turn."""
    adapter: str | None = None
    """A registered function that prepares template values from a row."""

    @model_validator(mode="after")
    def _one_form(self) -> Prompt:
        if bool(self.paragraphs) == bool(self.template):
            raise ValueError("a prompt has either `paragraphs` or a `template`")
        return self


class Answer(Frozen):
    """Form of the answer."""

    parser: str
    round: Literal["integer"] | int | None = None
    """Rounding of rendered true and no-change answers: ``integer`` or a number of decimals."""
    aggregate: Literal["mean", "vote", "mean_vector", "population", "none"] = "none"
    """How K draws become one prediction."""
    clip: bool = False
    reads: Literal["answer", "reasoning_then_answer"] = "answer"
    draws: int = Field(default=1, ge=1)
    options: dict[str, float | int | str | bool] = Field(default_factory=dict)


class Learn(Frozen):
    """What statistical learners get besides the predictors."""

    month: bool | Annotated[int, Field(ge=1, le=12)] = False
    """Whether the prompt names the month of the record's time, so that they get it as a last categorical feature; or
    the number of the one month that it always names."""
    classes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Order of a target's labels as learners number them, where it is not that of `labels`."""
    seeds: dict[str, int] = Field(default_factory=dict)
    """Seeds of the reference's fits, by target."""
    decimals: int | None = None
    """Decimals of predicted numbers; by default they stay as they are."""


class FineTuning(Frozen):
    """How the task enters a fine-tuning set."""

    held_out: str | None = None
    """Why it does not: it is for evaluation alone."""
    copies: int = Field(default=1, ge=1)
    """Identical copies of each training example."""
    expand: str | None = None
    """A registered function that returns all answers of a record that are right, each for an example of its own."""
    most: int | None = Field(default=None, ge=1)
    """Largest number of examples that one record becomes; of more answers a seeded draw is taken."""
    disjoint: tuple[Literal["record", "person", "prompt"], ...] = ("record", "prompt")
    """What no training example may have in common with any evaluation record; the rest is counted only."""

    @model_validator(mode="after")
    def _some_answers(self) -> FineTuning:
        if self.most is not None and self.expand is None:
            raise ValueError("`most` limits what `expand` returns, so it needs `expand`")
        return self


class Task(Frozen):
    """One task, as its YAML says it. The order of keys is that of the paper's appendix."""

    task: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$")
    suite: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    title: str | None = None
    description: str | None = None
    topic: str
    mode: Literal["baseline", "policy"] = "baseline"
    groups: tuple[str, ...] = ()
    """Further names to select by, as in ``@games``."""
    survey: str | None = None
    source: str | tuple[str, ...] | FileSource
    """A registered source, several (the survey's first), or a table of one's own."""
    panel: str | None = None
    """Which of the sources' tables to start from (default: the first source's name)."""
    parts: str | None = None
    """Column of that table: the steps run on the rows of some of its values after the other, so that memory is flat.

    For steps that look at a row, or at tables of the sources, but never at rows of another value."""
    key: Key
    targets: tuple[Target, ...] = Field(min_length=1)
    predictors: tuple[Predictors, ...] = ()
    treatment: str | None = None
    """Predictor that counterfactual prompts set to each of its values."""
    group: str | None = None
    """Column of the macro average's unit."""
    cluster: str | None = None
    weight: str | None = None
    metadata: tuple[str, ...] = ()
    """Further columns that records carry for metrics and reports."""
    sample: tuple[Step, ...] = ()
    split: Split | None = None
    prompt: Prompt
    answer: Answer
    metrics: tuple[MetricUse, ...] = Field(min_length=1)
    """The first is the headline."""
    learn: Learn = Field(default_factory=Learn)
    sft: FineTuning = Field(default_factory=FineTuning)
    citation: str | None = None

    @field_validator("source")
    @classmethod
    def _distinct_sources(cls, source: str | tuple[str, ...] | FileSource) -> str | tuple[str, ...] | FileSource:
        if not isinstance(source, tuple):
            return source
        if not source:
            raise ValueError("the list names no source")
        repeated = {name for name in source if source.count(name) > 1}
        if repeated:
            raise ValueError(f"sources are repeated: {', '.join(sorted(repeated))}")
        return source if len(source) > 1 else source[0]

    @field_validator("metrics", mode="before")
    @classmethod
    def _bare_metrics(cls, raw: Any) -> Any:
        if isinstance(raw, list | tuple):
            return [{"metric": item} if isinstance(item, str) else item for item in raw]
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> Task:
        names = [target.name for target in self.targets]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"targets are repeated: {', '.join(sorted(repeated))}")
        columns = [column for part in self.predictors for column in part.columns]
        repeated = {name for name in columns if columns.count(name) > 1}
        if repeated:
            raise ValueError(f"predictors are repeated: {', '.join(sorted(repeated))}")
        for use in self.metrics:
            if use.target is not None and use.target not in names:
                raise ValueError(f"metric {use.metric} names the target {use.target!r}, which the task does not have")
        for name in (*self.learn.seeds, *self.learn.classes):
            if name not in names:
                raise ValueError(f"`learn` names the target {name!r}, which the task does not have")
        for target in self.targets:
            classes = self.learn.classes.get(target.name, target.labels)
            if sorted(classes) != sorted(target.labels):
                raise ValueError(f"`learn.classes` of {target.name} are not its labels: {', '.join(target.labels)}")
        if self.treatment is not None and self.treatment not in columns:
            raise ValueError(f"the treatment {self.treatment!r} is not among the predictors")
        return self

    @property
    def name(self) -> str:
        """Qualified name, ``suite/task``."""
        return f"{self.suite}/{self.task}"

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the registered sources, the survey's first; none where the task reads a table of its own."""
        if isinstance(self.source, FileSource):
            return ()
        return (self.source,) if isinstance(self.source, str) else self.source

    @property
    def kind(self) -> TargetKind:
        """Kind of the targets (of the first one, should they differ)."""
        return self.targets[0].kind

    @property
    def learned_targets(self) -> tuple[Target, ...]:
        """The targets, their labels in the order in which learners number classes."""
        order = self.learn.classes
        return tuple(one.model_copy(update={"labels": order.get(one.name, one.labels)}) for one in self.targets)

    @property
    def predictor_columns(self) -> tuple[str, ...]:
        """All inputs, in order."""
        return tuple(column for part in self.predictors for column in part.columns)

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The inputs without which a record is none, in order."""
        return tuple(column for part in self.predictors for column in part.required_columns)

    def answer_spec(self, *, repairs: frozenset[str] = frozenset()) -> AnswerSpec:
        """Return what a parser must know."""
        decimals = 0 if self.answer.round == "integer" else self.answer.round
        return AnswerSpec(
            targets=self.targets,
            reads=self.answer.reads,
            clip=self.answer.clip,
            decimals=decimals,
            repairs=repairs,
            options=self.answer.options,
        )


class Notice(Frozen):
    """A text that a data provider requires to be shown."""

    text: str
    sources: tuple[str, ...] = ()
    """Sources that it is about, as globs; none: all of the suite's data."""

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, raw: Any) -> Any:
        return {"text": raw} if isinstance(raw, str) else raw

    def is_about(self, task: Task) -> bool:
        """Say whether a task uses such data."""
        return not self.sources or any(fnmatchcase(name, glob) for name in task.sources for glob in self.sources)


class Suite(Frozen):
    """A suite's own page, ``_suite.yaml``."""

    suite: str
    title: str
    description: str | None = None
    data: str = "demo"
    """Data kind that is used when the command names none."""
    layout: str | None = None
    """Registered data layout of released folders."""
    hub: dict[str, str] = Field(default_factory=dict)
    """Released data sets of the Hugging Face hub by a short name; the first is the one that is fetched by default."""
    leaderboard: str | None = None
    """Registered leaderboard rule."""
    citation: str | None = None
    released: str | None = None
    """Licence and other terms of the released data sets, shown before they are fetched and wherever they are used."""
    notices: tuple[Notice, ...] = ()

    def notices_of(self, tasks: Iterable[Task]) -> tuple[str, ...]:
        """Return the texts that must be shown with some tasks."""
        shown = list(tasks)
        return tuple(notice.text for notice in self.notices if any(map(notice.is_about, shown)))
