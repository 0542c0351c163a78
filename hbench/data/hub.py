"""Released data sets of the Hugging Face hub, kept in the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hbench.core import DataError
from hbench.data.files import atomic_file
from hbench.data.store import Store

_CURRENT = "current.json"


def fetched_folder(store: Store, suite: str) -> Path | None:
    """Return the folder of the suite's data that was downloaded last, or None."""
    pointer = store.root / suite / "hub" / _CURRENT
    if not pointer.is_file():
        return None
    folder = pointer.parent / str(json.loads(pointer.read_text(encoding="utf-8"))["folder"])
    return folder if folder.is_dir() else None


def fetch(
    store: Store, suite: str, repository: str, *, revision: str | None = None, patterns: Sequence[str] | None = None
) -> Path:
    """Download a data set into the store and make it the suite's current one.

    Parameters
    ----------
    store : Store
        Where it goes.
    suite, repository : str
        The suite, and the data set's name on the hub.
    revision : str or None
        Branch, tag or commit; the commit is resolved and pinned in the folder's name.
    patterns : sequence of str or None
        Files to download; None for all.

    Raises
    ------
    DataError
        The hub cannot be reached, or does not have the data set or the revision.
    """
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ImportError as error:
        raise DataError(
            "downloading needs huggingface_hub", hint="Install it with: pip install 'hbench[data]'"
        ) from error
    parent = store.root / suite / "hub"
    try:
        commit = HfApi().dataset_info(repository, revision=revision).sha or revision or "main"
        target = parent / repository.replace("/", "--") / commit
        snapshot_download(
            repository,
            repo_type="dataset",
            revision=commit,
            local_dir=target,
            allow_patterns=None if patterns is None else list(patterns),
        )
    except Exception as error:
        raise DataError(
            f"{repository} cannot be downloaded: {type(error).__name__}: {_first_line(error)}",
            hint=(
                "Check the network, or the name and --revision. Without a network: download the data set on another "
                f"machine from https://huggingface.co/datasets/{repository}, copy its folders here, "
                "and use them with --data FOLDER."
            ),
        ) from error
    content = {"repository": repository, "revision": commit, "folder": target.relative_to(parent).as_posix()}
    with atomic_file(parent / _CURRENT) as pointer:
        pointer.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return target


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "no details")
