from __future__ import annotations

import errno

import pytest

from hbench.core import DataError
from hbench.core.disk import disk_hint
from hbench.core.errors import foreign


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Free some space"),
        (OSError("No space left on device (os error 28): /x.parquet"), "Free some space"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "quota"),
        (OSError(errno.EROFS, "Read-only file system"), "Make it writable"),
        (PermissionError(errno.EACCES, "Permission denied"), "Make it writable"),
        (OSError(errno.EIO, "Input/output error"), "The disk fails"),
        (FileExistsError(errno.EEXIST, "File exists"), "Name another place"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory"), "Name another place"),
        (OSError(errno.ENAMETOOLONG, "File name too long"), "Name another place"),
        (OSError(errno.ENOENT, "No such file or directory"), None),
        (OSError("something else"), None),
        (ValueError("No space (os error 28)"), None),
    ],
)
def test_what_to_do(error: Exception, hint: str | None) -> None:
    told = disk_hint(error)
    assert told is None if hint is None else told is not None and hint in told


def test_a_component_that_meets_a_full_disk_says_what_to_do() -> None:
    with pytest.raises(DataError) as caught, foreign("the step", DataError, hint="Mend the step."):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("Free some space and run the same command again. Mend the step.")
