from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hbench.core import Aligned, HbenchError
from hbench_behaviorbench.texts import CHECKPOINT, Bleurt, Rouge1

GOLD = ["the cats sat on the mat", "wages rise", "a b c"]
PRED = ["the cat sat", "prices fall slowly", None]


def aligned() -> Aligned:
    valid = np.array([text is not None for text in PRED])
    return Aligned(np.array(PRED, dtype=object), np.array(GOLD, dtype=object), valid)


def unigram_f(gold: list[str], pred: list[str]) -> float:
    return 2 * sum((Counter(gold) & Counter(pred)).values()) / (len(gold) + len(pred))


def test_rouge_is_the_f_measure_of_shared_stems() -> None:
    pytest.importorskip("rouge_score")
    metric = Rouge1()
    rows = metric.rows(aligned())
    expected = unigram_f(["the", "cat", "sat", "on", "the", "mat"], ["the", "cat", "sat"])
    np.testing.assert_allclose(rows, [[expected, 1], [0, 1], [0, 0]])
    assert metric.reduce(rows.sum(axis=0)) == pytest.approx(expected / 2)


def test_bleurt_without_a_checkpoint_is_missing_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHECKPOINT, raising=False)
    metric = Bleurt()
    assert np.isnan(metric.reduce(metric.rows(aligned()).sum(axis=0)))
    assert CHECKPOINT in metric.undefined


def test_a_folder_that_is_no_checkpoint_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CHECKPOINT, str(tmp_path))
    with pytest.raises(HbenchError, match="names no checkpoint"):
        Bleurt().rows(aligned())
