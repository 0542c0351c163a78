"""A disk that refuses a checkpoint, told as what it is: torch and safetensors have errors of their own for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hbench.core import TrainingError
from hbench.core.errors import first_line

_REFUSED = re.compile(r"iostream error|inline_container\.cc|PytorchStreamWriter|\(os error \d+\)")


@contextmanager
def checkpoints_written(folder: Path) -> Iterator[None]:
    """Turn what torch or safetensors raise where they cannot write into an error that says what to do.

    Raises
    ------
    TrainingError
        A checkpoint could not be written.
    """
    try:
        yield
    except OSError:
        raise  # tells its reason itself
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not _REFUSED.search(str(cause)):
            cause = cause.__context__
        if cause is None:
            raise
        raise TrainingError(
            f"a checkpoint could not be written: {first_line(cause)}",
            file=folder,
            hint="See that the folder is writable, free some space, and run the same command again: "
            "it goes on from the last whole checkpoint.",
        ) from error
