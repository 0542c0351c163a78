"""Scores of free text: ROUGE-1 and BLEURT-20."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hbench.core import Aligned, Better, HbenchError, InvalidPolicy
from hbench.core.metric import FloatArray

CHECKPOINT = "HBENCH_BLEURT"
"""Environment variable: folder of the BLEURT-20 checkpoint."""
_BATCH = 16


class Rouge1:
    """F-measure of shared words after stemming, averaged over rows. Higher is better."""

    name = "rouge1"
    better: Better = "higher"
    invalid: InvalidPolicy = "exclude"
    kinds = frozenset({"text"})

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (F-measure, 1)."""
        try:
            from rouge_score.rouge_scorer import RougeScorer
        except ImportError as error:
            raise HbenchError("ROUGE-1 needs rouge-score", hint="pip install 'hbench[text]'") from error
        scorer = RougeScorer(["rouge1"], use_stemmer=True)
        out = np.zeros((len(aligned), 2))
        for i in np.flatnonzero(aligned.valid):
            out[i] = scorer.score(str(aligned.gold[i]), str(aligned.pred[i]))["rouge1"].fmeasure, 1.0
        return out

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide by rows."""
        return _mean(sums)


class Bleurt:
    """BLEURT-20 (Sellam et al. 2020), averaged over rows. Higher is better.

    The checkpoint is a folder that the environment variable ``HBENCH_BLEURT`` names. Without it the score is missing:
    no other score stands in for it.
    """

    name = "bleurt"
    better: Better = "higher"
    invalid: InvalidPolicy = "exclude"
    kinds = frozenset({"text"})

    @property
    def undefined(self) -> str:
        """Why there is no score."""
        return "no_rows" if checkpoint() else f"no_checkpoint (set {CHECKPOINT} to a folder with BLEURT-20)"

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (score, 1); zeros without a checkpoint."""
        out = np.zeros((len(aligned), 2))
        folder = checkpoint()
        if folder is None:
            return out
        places = np.flatnonzero(aligned.valid)
        pairs = [(str(aligned.gold[i]), str(aligned.pred[i])) for i in places]
        out[places, 0] = bleurt_scores(folder, pairs)
        out[places, 1] = 1.0
        return out

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide by rows."""
        return _mean(sums)


def checkpoint() -> Path | None:
    """Return the folder of the checkpoint, or None.

    Raises
    ------
    HbenchError
        The variable names no folder.
    """
    named = os.environ.get(CHECKPOINT)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not (folder / "config.json").is_file():
        raise HbenchError(f"{CHECKPOINT} names no checkpoint: there is no config.json", file=folder)
    return folder


def bleurt_scores(folder: Path, pairs: list[tuple[str, str]]) -> FloatArray:
    """Score candidates against references, (reference, candidate) each."""
    import torch

    tokenizer, model = _loaded(folder)
    scores: list[float] = []
    with torch.no_grad():
        for start in range(0, len(pairs), _BATCH):
            references, candidates = zip(*pairs[start : start + _BATCH], strict=True)
            inputs = tokenizer(
                list(references),
                list(candidates),
                padding="longest",
                truncation=True,
                max_length=512,
                return_tensors="pt",
            )
            scores += model(**inputs).logits.flatten().tolist()
    return np.array(scores)


@cache
def _loaded(folder: Path) -> tuple[Any, Any]:
    try:
        from bleurt_pytorch import BleurtForSequenceClassification

        # BLEURT-20's own tokenizer; the package would choose one by the folder's name.
        from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer
    except ImportError as error:
        raise HbenchError("BLEURT needs bleurt-pytorch and torch", hint="pip install 'hbench[bleurt]'") from error
    model = BleurtForSequenceClassification.from_pretrained(folder)
    return BleurtSPTokenizer.from_pretrained(folder), model.eval()


def _mean(sums: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])
