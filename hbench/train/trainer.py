"""Fine-tuning a base model with a low-rank adapter on a set of chat examples."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import TrainingError
from hbench.train.adapter import lora_config, save_adapter
from hbench.train.base_model import base_identity, load_model, load_tokenizer, model_ends, precision_of
from hbench.train.chat import ChatEncoder
from hbench.train.checkpoint_disk import checkpoints_written
from hbench.train.config import TrainConfig
from hbench.train.dataset import read_examples, set_fingerprint, set_notice, splits_of
from hbench.train.digits import find_digits
from hbench.train.number_token_loss import NumberTokenLoss
from hbench.train.packages import need
from hbench.train.packing import check_packing
from hbench.train.progress import Say, quiet, tell_counts, tell_scores
from hbench.train.tokens import Limits, TokenCounts, read_counts, read_tokens, write_tokens, written
from hbench.train.training_folder import TrainingFolder
from hbench.train.training_manifest import begin, dump_counts, dump_scores, finish
from hbench.train.validation import TaskScore
from hbench.train.validator import Validator, load_tasks

if TYPE_CHECKING:
    from hbench.plugin import Registry
    from hbench.train.answer_trainer import AnswerTrainer


def train(
    config: TrainConfig,
    data: Path,
    out: Path,
    *,
    include_paths: Sequence[Path] = (),
    registry: Registry | None = None,
    say: Say | None = None,
) -> Path:
    """Train an adapter, or go on where an interrupted training stopped; return the adapter's folder.

    Parameters
    ----------
    config : TrainConfig
        All that shapes the training.
    data : Path
        A set of examples, as `hbench sft export` writes it.
    out : Path
        Folder of the training.
    include_paths : sequence of Path
        Further folders of tasks, for the validation.
    registry : Registry, optional
        Finds parsers and metrics.
    say : callable, optional
        Shows what happens.

    Raises
    ------
    TrainingError
        For what is missing or does not fit: packages, model, examples, settings, a folder of another training.
    RunError
        Another process is training in the folder.

    Notes
    -----
    Under ``accelerate launch`` every process calls this; the first one writes.
    """
    for package in ("trl", "peft", "datasets", "transformers"):
        need(package)
    # Without a device, processes find each other only where accelerate is told so.
    state = need("accelerate").PartialState(cpu=not need("torch").accelerator.is_available())
    training = _Training(config, data, TrainingFolder(out), state, say if say and state.is_main_process else _silent)
    with quiet(), training.folder.locked(state.is_main_process), checkpoints_written(out):
        return training.run(include_paths, registry)


class _Training:
    """One call of `train`."""

    def __init__(self, config: TrainConfig, data: Path, folder: TrainingFolder, state: Any, say: Say) -> None:
        self.config, self.data, self.folder, self.state, self.say = config, data, folder, state, say
        self.manifest: dict[str, Any] = {}
        self.validator: Validator | None = None
        self.trainer: AnswerTrainer | None = None

    def run(self, include_paths: Sequence[Path], registry: Registry | None) -> Path:
        if self._begin():
            self.say(f"the training is finished: {self.folder.adapter}")
            return self.folder.adapter
        config = self.config
        precision = precision_of(config)
        tokenizer = load_tokenizer(config)
        encoder = ChatEncoder(tokenizer, arguments=config.chat_template_kwargs, ends=model_ends(config))
        numbers = NumberTokenLoss(find_digits(tokenizer)) if config.loss == "ntl" else None
        counts = self._tokens(encoder, numbers)
        self.validator = self._validator(encoder, counts, include_paths, registry)
        need("transformers").set_seed(config.seed)
        last = self.folder.last_checkpoint()
        trainer = self._trainer(load_model(config, precision), tokenizer, precision, numbers, afresh=last is None)
        self.trainer = trainer
        if config.packing:
            check_packing(trainer.accelerator.unwrap_model(trainer.model))
        self.manifest |= {
            "examples": {split: dump_counts(some) for split, some in counts.items()},
            "device": {"processes": self.state.num_processes, "kind": self.state.device.type, "precision": precision},
        }
        return self._train(trainer, last)

    def _begin(self) -> bool:
        """Write the manifest, or compare it with that of the training that is gone on with; say if that is finished."""
        if self.state.num_processes == 1 and (devices := need("torch").cuda.device_count()) > 1:
            raise TrainingError(
                f"there are {devices} GPUs and one process",
                hint="Start one process for each: accelerate launch -m hbench sft train ... "
                "Or show it one GPU: CUDA_VISIBLE_DEVICES=0.",
            )
        if self.config.batch_size % (self.config.device_batch_size * self.state.num_processes):
            raise TrainingError(
                f"batch_size={self.config.batch_size} is no multiple of device_batch_size="
                f"{self.config.device_batch_size} times {self.state.num_processes} processes"
            )
        self.manifest = begin(
            self.config, base=base_identity(self.config), data=set_fingerprint(self.data), notice=set_notice(self.data)
        )
        if self.state.is_main_process:
            begun = self.folder.manifest()
            if begun is not None:
                try:
                    self.folder.check_same(begun, self.manifest)
                except TrainingError:
                    # A misspelt model or a setting that does not fit must not take the folder.
                    if begun["status"] == "finished" or self.folder.last_checkpoint() is not None:
                        raise
                    self.folder.begin_anew()
                    begun = None
            if begun is None:
                self.folder.write(self.manifest)
        self.state.wait_for_everyone()
        stored = self.folder.manifest() or self.manifest
        self.manifest = {**stored, "config": self.manifest["config"]}
        return bool(stored["status"] == "finished" and self.folder.adapter.is_dir())

    def _tokens(self, encoder: ChatEncoder, numbers: NumberTokenLoss | None) -> dict[str, dict[str, TokenCounts]]:
        """Encode the examples, or find them encoded; return their counts."""
        config = self.config
        limits = Limits(
            config.max_length,
            refuse=config.too_long == "refuse",
            digits=None if numbers is None else numbers.digits,
        )
        files = {split: self.folder.tokens(split) for split in splits_of(self.data)}
        if self.state.is_main_process:
            for split, path in files.items():
                per_task = config.eval_records or None if split == "validation" else None
                if not written(path):
                    write_tokens(path, read_examples(self.data, split, per_task=per_task), encoder, limits)
        self.state.wait_for_everyone()
        counts: dict[str, dict[str, TokenCounts]] = {split: read_counts(path) for split, path in files.items()}
        for name, some in counts.items():
            for line in tell_counts(some, config.max_length):
                self.say(f"{name}: {line}")
        if not any(count.examples for count in counts["train"].values()):
            raise TrainingError(
                f"no example is left to train on: none has at most {config.max_length:,} tokens",
                file=self.data,
                hint="Raise max_length.",
            )
        return counts

    def _validator(
        self,
        encoder: ChatEncoder,
        counts: Mapping[str, Mapping[str, TokenCounts]],
        include_paths: Sequence[Path],
        registry: Registry | None,
    ) -> Validator | None:
        if "validation" not in counts:
            return None
        if registry is None:
            from hbench.plugin import default_registry

            registry = default_registry()
        tasks = load_tasks(self.data, self.config.eval_records, registry=registry, include_paths=include_paths)
        if not tasks:
            return None
        longest = max(count.longest_answer for some in counts.values() for count in some.values())
        return Validator(
            tasks,
            encoder,
            max_tokens=self.config.eval_max_tokens or 2 * longest + 16,
            batch_size=self.config.eval_batch_size,
            seed=self.config.seed,
            told=self._tell_scores,
        )

    def _trainer(
        self,
        model: Any,
        tokenizer: Any,
        precision: str,
        numbers: NumberTokenLoss | None,
        *,
        afresh: bool,
    ) -> AnswerTrainer:
        from hbench.train.answer_trainer import AnswerTrainer
        from hbench.train.arguments import callbacks, sft_config

        held_out = self.folder.tokens("validation")
        evaluated = read_tokens(held_out) if held_out.is_file() else None
        if evaluated is not None and not len(evaluated):
            evaluated = None
        judge = None if evaluated is None else "loss" if self.validator is None else "selection"
        arguments = sft_config(
            self.config,
            self.folder,
            precision=precision,
            processes=self.state.num_processes,
            judge=judge,
            afresh=afresh,
            on_cpu=self.state.device.type == "cpu",
        )
        trainer = AnswerTrainer(
            model=model,
            args=arguments,
            train_dataset=read_tokens(self.folder.tokens("train")),
            eval_dataset=evaluated,
            processing_class=tokenizer,
            peft_config=lora_config(self.config),
            callbacks=callbacks(
                self.config,
                self.folder,
                self.say,
                judged=judge is not None,
                main=self.state.is_main_process,
                before=self._note_before,
            ),
            numbers=numbers,
            weight=self.config.ntl_weight,
            validate=self.validator,
        )
        trainer.remove_callback(need("transformers").PrinterCallback)
        return trainer

    def _note_before(self, loss: float) -> None:
        """Note what the base model's validation found; later ones are measured against it."""
        before: dict[str, Any] = {"loss": loss, "scores": []}
        if self.validator is not None:
            before["scores"] = dump_scores(self.validator.before or {})
            before["not_judged"] = self.validator.without_metric
            for task in self.validator.without_metric:
                self.say(f"{task}: no metric can be computed, or it is perfect; the task does not judge this training")
        self.manifest["before"] = before
        if self.state.is_main_process:
            self.folder.write(self.manifest)

    def _train(self, trainer: AnswerTrainer, last: Path | None) -> Path:
        if last is not None:
            self.say(f"going on from {last.name}")
            if self.validator is not None:
                self.validator.before = {one["task"]: TaskScore(**one) for one in self.manifest["before"]["scores"]}
        began = time.monotonic()
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
        if self.state.is_main_process:
            save_adapter(trainer.accelerator.unwrap_model(trainer.model), self.folder.adapter)
            state = trainer.state
            self.manifest = finish(
                self.manifest,
                adapter=self.folder.adapter,
                history=state.log_history,
                best_step=state.best_global_step,
                steps=state.global_step,
                planned=state.max_steps,
                seconds=time.monotonic() - began,
            )
            self.folder.write(self.manifest)
        self.state.wait_for_everyone()
        self.say(f"the adapter is in {self.folder.adapter}")
        return self.folder.adapter

    def _tell_scores(self, scores: Mapping[str, TaskScore], relative: float) -> None:
        step = 0 if self.trainer is None else self.trainer.state.global_step
        before = self.validator.before if self.validator is not None else None
        for line in tell_scores(step, scores, before or {}, relative):
            self.say(line)


def _silent(line: str) -> None:
    """Show nothing."""
