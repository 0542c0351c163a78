"""hbench's settings in the words of TRL and transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hbench.train.config import TrainConfig
from hbench.train.packages import need
from hbench.train.progress import Say, progress_callback
from hbench.train.training_folder import TrainingFolder


def sft_config(
    config: TrainConfig,
    folder: TrainingFolder,
    *,
    precision: str,
    processes: int,
    judge: str | None,
    afresh: bool,
    on_cpu: bool,
) -> Any:
    """Return TRL's settings.

    Parameters
    ----------
    config : TrainConfig
        hbench's settings.
    folder : TrainingFolder
        Where checkpoints go.
    precision : {"bf16", "fp16", "no"}
        What is computed in.
    processes : int
        Over which a step's batch is divided.
    judge : str or None
        What tells the best checkpoint, the lower the better; None: nothing is validated.
    afresh : bool
        Whether training begins, and the base model is validated; else it goes on.
    on_cpu : bool
        Whether there is no accelerator.
    """
    judged = {
        "eval_strategy": "steps",
        # Not by `Trainer.evaluate` before `Trainer.train`: that would leave the processes' gradients apart.
        "eval_on_start": afresh,
        "eval_steps": _interval(config.eval_every),
        "load_best_model_at_end": True,
        "metric_for_best_model": f"eval_{judge}",
        "greater_is_better": False,
    }
    return need("trl").SFTConfig(
        output_dir=str(folder.checkpoints),
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        per_device_train_batch_size=config.device_batch_size,
        per_device_eval_batch_size=config.device_batch_size,
        gradient_accumulation_steps=config.batch_size // (config.device_batch_size * processes),
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant_with_warmup" if config.schedule == "constant" else config.schedule,
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        adam_beta2=config.adam_beta2,
        max_grad_norm=config.max_grad_norm,
        seed=config.seed,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        use_cpu=on_cpu,
        gradient_checkpointing=config.gradient_checkpointing,
        # Examples are encoded and measured already; without packing nothing is left to prepare.
        max_length=config.max_length if config.packing else None,
        packing=config.packing,
        eval_packing=False,
        # Examples are packed in the order of the file, a thousand at a time; tasks should mix.
        shuffle_dataset=config.packing,
        router_aux_loss_coef=0.0,
        save_strategy="steps",
        save_steps=_interval(config.eval_every),
        save_total_limit=config.keep_checkpoints,
        logging_steps=config.log_every,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to="none",
        prediction_loss_only=True,
        **({} if judge is None else judged),
    )


def callbacks(
    config: TrainConfig,
    folder: TrainingFolder,
    say: Say,
    *,
    judged: bool,
    main: bool,
    before: Callable[[float], None],
) -> list[Any]:
    """Return what listens to a training: progress, the base model's validation, early stopping, TensorBoard.

    `before` gets the base model's validation loss.
    """
    transformers = need("transformers")
    found = [progress_callback(say, before)]
    if judged and config.patience:
        found.append(transformers.EarlyStoppingCallback(early_stopping_patience=config.patience))
    if config.tensorboard and main:
        writer = need("torch.utils.tensorboard").SummaryWriter(log_dir=str(folder.tensorboard))
        found.append(need("transformers.integrations").TensorBoardCallback(writer))
    return found


def _interval(every: float) -> float:
    """Return steps as a whole number, and a share of all steps as it is."""
    return int(every) if every >= 1 else every
