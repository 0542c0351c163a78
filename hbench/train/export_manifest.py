"""What stands beside a fine-tuning set: counts, origins, checks, and the texts that providers require to be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, JsonValue, Record
from hbench.core.version import __version__
from hbench.data import atomic_file
from hbench.data.export import SYNTHETIC
from hbench.data.files import sha256_file
from hbench.data.layouts.records import PAGE

if TYPE_CHECKING:
    from hbench.plugin.registry import PluginInfo

MANIFEST = "manifest.json"
RECORDS = "records"
"""Folder of the validation records, in the layout that ``--data FOLDER`` reads."""
_FORMAT, _VERSION = "hbench fine-tuning set", 1
_DAY = re.compile(r"(\d{4})-(\d{2})\b")


def make_manifest(
    folder: Path,
    *,
    fingerprint: str,
    settings: Mapping[str, JsonValue],
    tasks: Mapping[str, Mapping[str, JsonValue]],
    leakage: Mapping[str, JsonValue],
    notices: Mapping[str, Iterable[str]],
    plugins: Iterable[PluginInfo],
) -> dict[str, JsonValue]:
    """Return the manifest of the files that a folder holds. It tells no time and no place: equal sets are equal bytes.

    Parameters
    ----------
    folder : Path
        The set's folder.
    fingerprint : str
        Digest of all that determines the set.
    settings, tasks, leakage : mapping
        How it was made, counts and origin of each task, what the check found.
    notices : mapping
        Texts that providers require to be shown, by suite.
    plugins : iterable of PluginInfo
        What brought the suites.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "fingerprint": fingerprint,
        **({"notice": SYNTHETIC} if any(one["kind"] == "demo" for one in tasks.values()) else {}),
        "settings": dict(settings),
        "examples": {
            "train": sum(one["examples"] for one in tasks.values()),
            "validation": sum(one["validation"] for one in tasks.values()),
        },
        "tasks": {name: dict(one) for name, one in tasks.items()},
        "leakage": dict(leakage),
        "notices": {suite: list(texts) for suite, texts in notices.items() if list(texts)},
        "versions": {"hbench": __version__, **{plugin.name: plugin.version for plugin in plugins}},
        "files": {path.relative_to(folder).as_posix(): sha256_file(path) for path in files},
    }


def write_records_page(folder: Path, tasks: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """Write the page of the validation records, so that those of synthetic data stay synthetic wherever they go."""
    page = {
        name: {
            "kind": one["kind"],
            "fingerprint_of_origin": one["fingerprint"],
            "sample": "eval",
            "files": {file: sha256_file(folder / RECORDS / file)},
            "rows": {"validation": one["validation"]},
        }
        for name, one in tasks.items()
        if (folder / RECORDS / (file := f"{name}/validation.jsonl")).is_file()
    }
    if page:
        text = json.dumps({"hbench": __version__, "tasks": page}, indent=1) + "\n"
        (folder / RECORDS / PAGE).write_text(text, encoding="utf-8")


def write_manifest(folder: Path, manifest: Mapping[str, JsonValue]) -> None:
    """Write the manifest, and a page for people and for `datasets`."""
    with atomic_file(folder / "README.md") as path:
        path.write_text(_page(manifest), encoding="utf-8")
    with atomic_file(folder / MANIFEST) as path:
        path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def read_set(folder: Path) -> dict[str, Any]:
    """Read a set's manifest and check that its files are as they were written.

    Raises
    ------
    DataError
        The folder is no set, or a file is absent or changed.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        hint = "Make one with `hbench sft export`."
        raise DataError(f"there is no fine-tuning set: {error}", file=folder / MANIFEST, hint=hint) from error
    if not isinstance(manifest, dict) or (manifest.get("format"), manifest.get("version")) != (_FORMAT, _VERSION):
        raise DataError(f"the manifest is not that of a {_FORMAT} of version {_VERSION}", file=folder / MANIFEST)
    for name, expected in manifest["files"].items():
        path = folder / name
        if not path.is_file() or sha256_file(path) != expected:
            raise DataError(
                "the file is absent or was changed", file=path, hint="Export the set again to a new folder."
            )
    return manifest


def finished(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return the manifest of the set with a fingerprint that is there already; None where nothing is.

    Raises
    ------
    DataError
        There is something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    if not (folder / MANIFEST).is_file():
        raise DataError("the folder to export to is not empty", file=folder, hint="Name a new one with --out.")
    manifest = read_set(folder)
    if manifest["fingerprint"] != fingerprint:
        raise DataError(
            "the folder holds another set: of other tasks, data or settings",
            file=folder,
            hint="Name a new one with --out, or remove this one.",
        )
    return manifest


def quarter_of(record: Record) -> str:
    """Return the calendar quarter of a record's time, ``YYYYQn``; an empty text where the time is no day."""
    found = None if record.time is None else _DAY.match(record.time)
    return "" if found is None else f"{found[1]}Q{(int(found[2]) + 2) // 3}"


def _page(manifest: Mapping[str, Any]) -> str:
    import yaml

    examples = [name for name in manifest["files"] if "/" not in name]
    config = {"configs": [{"config_name": "default", "data_files": [
        {"split": Path(name).stem, "path": name} for name in sorted(examples)]}]}  # fmt: skip
    lines = ["---", yaml.safe_dump(config, sort_keys=False).rstrip(), "---", "", "# A fine-tuning set of hbench", ""]
    if "notice" in manifest:
        lines += [f"**{manifest['notice']}**", ""]
    lines += ["| task | kind | records | examples | validation |", "|---|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {one['kind']} | {one['records']:,} | {one['examples']:,} | {one['validation']:,} |"
        for name, one in manifest["tasks"].items()
    ]
    total = manifest["examples"]
    lines += [f"| all | | | {total['train']:,} | {total['validation']:,} |"]
    texts = [text for some in manifest["notices"].values() for text in some]
    if texts:
        lines += ["", "## Notices", "", *(f"- {text}" for text in texts)]
    return "\n".join(lines) + "\n"
