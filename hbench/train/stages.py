"""Running a recipe: export, base evaluation, training, tuned evaluation, comparison.

Each stage has a folder whose name ends with the digest of all that determines it. So a recipe that was stopped goes on
where it ended, and one that was changed does anew what the change concerns.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import JsonValue, ModelError
from hbench.data import atomic_file, fingerprint
from hbench.model.weights import folder_fingerprint
from hbench.report.comparison import Comparison, View
from hbench.report.writers import Document, write
from hbench.run import evaluate
from hbench.run.plan import Settings
from hbench.run.progress import Progress
from hbench.stat import Resampling
from hbench.train.dataset import set_fingerprint
from hbench.train.export import export
from hbench.train.export_job import ExportSettings, prepare
from hbench.train.improvement import BASE, TUNED, document, improvement
from hbench.train.recipe import Recipe

if TYPE_CHECKING:
    from hbench.plugin import Registry
    from hbench.train.export_job import ExportJob

ADAPTER_OPTION = {"hf": "peft", "vllm": "lora"}
"""How each engine names the adapter's folder."""
REPORT = "improvement"


@dataclass(frozen=True)
class Outcome:
    """What a recipe gives back: the comparison, and the folder and seconds of each stage."""

    document: Document
    stages: Mapping[str, Mapping[str, JsonValue]]


class RecipeRun:
    """Carries out one recipe in one folder.

    Parameters
    ----------
    recipe : Recipe
        What to do.
    out : Path
        Folder of all stages.
    include_paths : sequence of Path
        Further folders of tasks.
    registry : Registry or None
        Components (default: those of all installed plugins).
    progress : Progress or None
        Is told how the evaluations go.
    say : callable
        Is told which stage begins.
    """

    def __init__(
        self,
        recipe: Recipe,
        out: Path,
        *,
        include_paths: Sequence[Path] = (),
        registry: Registry | None = None,
        progress: Progress | None = None,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.recipe, self.out, self.include_paths = recipe, out, tuple(include_paths)
        self._registry, self._progress, self._say = registry, progress, say
        self._stages: dict[str, dict[str, JsonValue]] = {}

    def run(self) -> Outcome:
        """Go through all stages, and write ``improvement.txt`` and ``improvement.json``.

        Raises
        ------
        HbenchError
            For whatever the user can mend; finished stages stay.
        """
        # First, since it makes what data are not there: the set is checked against all that is evaluated.
        evaluation = self._evaluation(BASE, {})
        job = self._export_job()
        data = self._stage("set", job.fingerprint, lambda folder: _exported(job, folder))
        base = self._answered(BASE, evaluation)
        adapter = self._train(data)
        option = ADAPTER_OPTION[self.recipe.evaluate.engine]
        tuned = self._answered(TUNED, self._evaluation(TUNED, {option: str(adapter)}))
        found = self._compare([base, tuned], {planned.name for planned in job.plan.tasks})
        for form in ("text", "json"):
            ending = "txt" if form == "text" else form
            with atomic_file(self.out / f"{REPORT}.{ending}") as path:
                path.write_text(write(found, "json" if form == "json" else "text"), encoding="utf-8")
        return Outcome(found, self._stages)

    def _export_job(self) -> ExportJob:
        part = self.recipe.export
        settings = ExportSettings(
            per_task=part.per_task,
            validation=part.validation,
            seed=self.recipe.seed,
            allow_policy=part.allow_policy,
            drop_leaks=part.drop_leaks,
        )
        return prepare(
            list(part.tasks),
            data=self.recipe.data,
            settings=settings,
            include_paths=self.include_paths,
            registry=self._registry,
        )

    def _train(self, data: Path) -> Path:
        from hbench.train.trainer import train

        config = self.recipe.config()
        # The set's content, not its fingerprint: that hangs on what else it was checked against.
        name = fingerprint(
            {"config": config.model_dump(mode="json"), "base": _content(config.model), "set": set_fingerprint(data)}
        )
        return self._stage(
            "adapter",
            name,
            lambda folder: train(
                config, data, folder, include_paths=self.include_paths, registry=self._registry, say=self._say
            ),
        )

    def _evaluation(self, label: str, adapter: Mapping[str, str]) -> evaluate.Job:
        recipe, part = self.recipe, self.recipe.evaluate
        job = evaluate.prepare(
            list(part.tasks),
            _words(part.engine, recipe.model, {"label": label, **part.options, **adapter}),
            data=list(recipe.data),
            settings=Settings(limit=part.limit, draws=part.draws, seed=recipe.seed, splits=part.splits),
            include_paths=self.include_paths,
            registry=self._registry,
        )
        return replace(job, path=self._folder(label, job.plan.digest(job.entrants)))

    def _answered(self, label: str, job: evaluate.Job) -> Path:
        """Evaluate one of the models; what its journal holds already is not asked again."""
        began = self._begin(label, job.path)
        result = evaluate.run(job, progress=self._progress, command=sys.argv[:1])
        for about in result.results.gave_up:
            # A comparison of what it had answered so far would not be one, and training takes long.
            hint = "Once this is mended, the same command goes on from there."
            raise ModelError(f"the {label} model gave up: {about['error']}", hint=hint)
        return self._end(label, job.path, began)

    def _compare(self, runs: Sequence[Path], trained: set[str]) -> Document:
        how = self.recipe.compare
        resampling = Resampling(how.resamples, self.recipe.seed, level=how.level, clusters=how.clusters)
        view = View(rows=how.rows, resampling=resampling)
        comparison = Comparison.load(runs, registry=self._registry)
        more = {"recipe": self.recipe.model_dump(mode="json"), "stages": self._stages}
        return document(comparison, improvement(comparison, view, trained=trained), view, more=more)

    def _stage(self, name: str, digest: str, work: Callable[[Path], Path]) -> Path:
        """Do a stage, unless a note beside its folder says that it is done; return the folder that it made."""
        folder = self._folder(name, digest)
        note = folder.with_name(f"{folder.name}.done.json")
        if note.is_file() and folder.is_dir():
            done = json.loads(note.read_text(encoding="utf-8"))
            self._say(f"{name}: done before, in {folder}")
            self._stages[name] = {**done, "done_before": True}
            return self.out / str(done["folder"])
        began = self._begin(name, folder)
        made = work(folder)
        self._end(name, made, began)
        with atomic_file(note) as path:
            path.write_text(json.dumps(self._stages[name]) + "\n", encoding="utf-8")
        return made

    def _folder(self, name: str, digest: str) -> Path:
        return self.out / f"{name}-{digest[:12]}"

    def _begin(self, name: str, folder: Path) -> float:
        self._say(f"{name}: {folder}")
        return time.monotonic()

    def _end(self, name: str, folder: Path, began: float) -> Path:
        seconds = round(time.monotonic() - began, 1)
        self._stages[name] = {"folder": folder.relative_to(self.out).as_posix(), "seconds": seconds}
        return folder


def _exported(job: ExportJob, folder: Path) -> Path:
    export(job, folder)
    return folder


def _content(model: str) -> str:
    folder = Path(model).expanduser()
    return folder_fingerprint(folder) if folder.is_dir() else model


def _words(engine: str, model: str, options: Mapping[str, JsonValue]) -> str:
    return ",".join([f"{engine}:{json.dumps(model)}", *(f"{name}={json.dumps(v)}" for name, v in options.items())])
