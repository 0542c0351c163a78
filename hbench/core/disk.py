"""What to do when the disk refuses."""

from __future__ import annotations

import errno
import re

_FULL = "Free some space and run the same command again."
_CLOSED = "Make it writable, or name another place."
_PLACE = "Name another place."
_HINTS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: "Free some of your quota and run the same command again.",
    errno.EFBIG: "The file system takes no files of this size; name another place.",
    errno.EROFS: _CLOSED,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
    # A file stands where a folder is needed, or the other way round; or there can be no such name.
    errno.EEXIST: _PLACE,
    errno.ENOTDIR: _PLACE,
    errno.EISDIR: _PLACE,
    errno.ENAMETOOLONG: _PLACE,
    errno.ELOOP: _PLACE,
    errno.EIO: "The disk fails. Check it before anything else.",
}
# Libraries in Rust leave `errno` out and write it into the message.
_CODE = re.compile(r"\(os error (\d+)\)")


def disk_hint(error: BaseException) -> str | None:
    """Say what to do about a disk that is full, closed or failing, or a place that cannot be; None for other errors."""
    if not isinstance(error, OSError):
        return None
    code = error.errno
    if code is None and (told := _CODE.search(str(error))):
        code = int(told[1])
    return None if code is None else _HINTS.get(code)
