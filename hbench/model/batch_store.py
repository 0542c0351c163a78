"""What was sent to a batch API, on disk before and after it is sent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hbench.core import ModelError
from hbench.data.files import atomic_file


@dataclass(eq=False)
class Batch:
    """One batch.

    Attributes
    ----------
    mark : str
        Names the batch at the provider, where it can be named.
    ids : list of str
        Custom ids of its requests.
    since : float
        Clock before it was sent.
    estimate : float
        US dollars set aside for it.
    number : str or None
        Its id at the provider; None until that is known.
    failed : list of str
        Custom ids without an answer in the end; they may be sent again, in another batch.
    """

    mark: str
    ids: list[str]
    since: float
    estimate: float = 0.0
    number: str | None = None
    failed: list[str] = field(default_factory=list)


class BatchStore:
    """The batches of one model in one run, a file each.

    Parameters
    ----------
    folder : Path
        Made with the first batch.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self) -> list[Batch]:
        """Return all batches, the oldest first.

        Raises
        ------
        ModelError
            A file is damaged. It is not passed over, since its requests would be paid for twice.
        """
        found = []
        for path in sorted(self.folder.glob("[!.]*.json")):
            try:
                found.append(Batch(**json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError, TypeError) as error:
                raise ModelError(
                    f"the record of a batch cannot be read: {error}",
                    file=path,
                    hint="Restore it, or delete it to send its requests again, and pay for them again.",
                ) from error
        return sorted(found, key=lambda batch: batch.since)

    def save(self, batch: Batch) -> None:
        """Write a batch; it is durable when this returns."""
        with atomic_file(self._path(batch)) as temporary:
            temporary.write_text(json.dumps(asdict(batch)), encoding="utf-8")

    def drop(self, batch: Batch) -> None:
        """Forget a batch that never reached the provider."""
        self._path(batch).unlink()

    def _path(self, batch: Batch) -> Path:
        return self.folder / f"{batch.mark}.json"
