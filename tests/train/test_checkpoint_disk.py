from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import TrainingError
from hbench.train.checkpoint_disk import checkpoints_written


def close_badly(message: str) -> None:
    try:
        raise RuntimeError(message)
    except RuntimeError:
        raise RuntimeError("closed") from None


@pytest.mark.parametrize(
    "message",
    [
        "basic_ios::clear: iostream error",
        "[enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0",
        "I/O error: No space left on device (os error 28)",
    ],
)
def test_a_disk_that_refuses_a_checkpoint_is_told_with_what_to_do(tmp_path: Path, message: str) -> None:
    with (
        pytest.raises(TrainingError, match="a checkpoint could not be written") as caught,
        checkpoints_written(tmp_path),
    ):
        close_badly(message)
    assert "free some space" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "error", [RuntimeError("out of memory"), OSError(28, "No space left on device"), KeyError("x")]
)
def test_other_errors_stay_what_they_are(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)) as caught, checkpoints_written(tmp_path):
        raise error
    assert caught.value is error
