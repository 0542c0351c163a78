"""Handing data on: a folder that `datasets` loads and that ``--data FOLDER`` reads back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from hbench.core import DataError
from hbench.core.version import __version__
from hbench.data.files import atomic_file, sha256_file
from hbench.data.layouts.records import PAGE
from hbench.data.records import write_records
from hbench.data.taskdata import TRAINING_SPLITS, Sample, TaskData, is_evaluation

Format = Literal["hf", "parquet", "jsonl"]
SYNTHETIC = "Synthetic data: scores say nothing about households."


def export(
    data: Iterable[TaskData], out: Path, *, format: Format = "hf", sample: Sample = "eval", notices: Iterable[str] = ()
) -> list[Path]:
    """Write tasks' records as ``out/<suite>/<task>/<split>.<ending>``.

    Parameters
    ----------
    data : iterable of TaskData
        What to write.
    out : Path
        A new or empty folder.
    format : {"hf", "parquet", "jsonl"}
        ``hf`` writes Parquet and a data card whose configurations `datasets.load_dataset` reads.
    sample : {"eval", "all"}
        The evaluation samples, or all rows of all splits.
    notices : iterable of str
        Texts that the providers require to be shown; they go into the folder's page, and into the card.

    Returns
    -------
    list of Path
        The record files.

    Raises
    ------
    DataError
        The folder is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError("the folder to export to is not empty", file=out, hint="Name a new one with --out.")
    ending = "jsonl" if format == "jsonl" else "parquet"
    page: dict[str, Any] = {}
    written: list[Path] = []
    for one in data:
        files: dict[str, str] = {}
        rows: dict[str, int] = {}
        for split in one.splits():
            if sample == "eval" and not is_evaluation(split):
                continue
            path = out / one.task / f"{split}.{ending}"
            records = one.training_records() if split in TRAINING_SPLITS else one.records(split, sample)
            rows[split] = write_records(path, (r for r in records if r.metadata.get("split") == split))
            if not rows[split]:
                path.unlink()
                del rows[split]
                continue
            files[path.relative_to(out).as_posix()] = sha256_file(path)
            written.append(path)
        page[one.task] = {
            "kind": one.kind,
            "fingerprint_of_origin": one.fingerprint,
            "sample": sample,
            "files": files,
            "rows": rows,
        }
    shown = list(notices)
    content = {"hbench": __version__, "notices": shown, "tasks": page}
    with atomic_file(out / PAGE) as path:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if format == "hf":
        with atomic_file(out / "README.md") as path:
            path.write_text(card(page, shown), encoding="utf-8")
    return written


def card(page: dict[str, Any], notices: Iterable[str]) -> str:
    """Return the data card: configurations for `datasets`, then tables for people."""
    import yaml

    configs = [
        {
            "config_name": task.replace("/", "--"),
            "data_files": [{"split": Path(name).stem, "path": name} for name in one["files"]],
        }
        for task, one in page.items()
    ]
    lines = [
        "---",
        yaml.safe_dump({"configs": configs}, sort_keys=False).rstrip(),
        "---",
        "",
        "# Records of hbench",
        "",
    ]
    if any(one["kind"] == "demo" for one in page.values()):
        lines += [f"**{SYNTHETIC}**", ""]
    lines += ["| task | kind | split | rows | fingerprint |", "|---|---|---|---:|---|"]
    lines += [
        f"| {task} | {one['kind']} | {split} | {rows:,} | `{one['fingerprint_of_origin'][:12]}` |"
        for task, one in page.items()
        for split, rows in one["rows"].items()
    ]
    lines += [
        "",
        'Read back with `hbench eval --data FOLDER`, or with `datasets.load_dataset(FOLDER, "SUITE--TASK")`.',
        "`predictors`, `metadata` and `messages` are JSON texts.",
    ]
    shown = list(notices)
    if shown:
        lines += ["", "## Notices", "", *(f"- {notice}" for notice in shown)]
    return "\n".join(lines) + "\n"
