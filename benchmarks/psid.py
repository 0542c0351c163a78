"""Reading PSID-SHELF in a fixed amount of memory: files of the real width, with more and more records.

Synthetic records (about 2 kB each, as in the real long file; the file of all waves has some 128 kB a person) are
repeated with new numbers of persons and streamed into archives. Every file is read in a process of its own, whose
highest resident memory is shown in MiB (on Linux), with the growth per million records between the smallest and the
largest file and the projection to the real one: 3,533,082 person-waves, 84,121 persons. The peer is pandas with the
same columns of the long file in chunks.

Run: python benchmarks/psid.py [--copies 1 3 9] [--persons 2000 8000]
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hbench.core import BuildReport
from hbench_householdbench.sources.demo.psid import write_long, write_releases
from hbench_householdbench.sources.psid import Psid
from hbench_householdbench.sources.psid_layout import LONG, MAIN_STUDY, VARIABLES
from hbench_householdbench.sources.psid_main_study import PsidMainStudy
from hbench_householdbench.sources.psid_questions import variables

REAL_RECORDS, REAL_WIDTH = 3_533_082, 2_240
REAL_PERSONS, REAL_PERSON_WIDTH = 84_121, 128_000
PERSON_STEP = 10_000_000


def widened(frame: Any, width: int) -> Any:
    """Add text variables that no task reads, until a record has the real width."""
    import pandas as pd

    own = sum(8 if kind.kind == "f" else kind.itemsize for kind in frame.dtypes)
    fill = {f"X{place}": "x" * 100 for place in range(max(0, (width - own) // 100))}
    return pd.concat([frame, pd.DataFrame([fill] * len(frame), index=frame.index)], axis=1)


def parts(frame: Any) -> tuple[bytes, bytes, bytes, int]:
    """Return what comes before the number of records, between it and the records, the records, and their number."""
    stream = io.BytesIO()
    frame.to_stata(stream, version=118, write_index=False)
    data = stream.getvalue()
    count, start = data.index(b"<N>") + 3, data.index(b"<data>") + 6
    return data[:count], data[count + 8 : start], data[start : data.index(b"</data>")], len(frame)


def write(path: Path, frame: Any, copies: int) -> int:
    """Write `frame` so many times, every copy with its own persons; return the number of records."""
    frame["ID"] = frame["ID"].astype(np.int32)
    assert frame.columns[0] == "ID"
    before, between, records, rows = parts(frame)
    width = len(records) // rows
    table = np.frombuffer(bytearray(records), dtype=np.uint8).reshape(rows, width)
    numbers = table[:, :4].copy().view("<i4")[:, 0]
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("file.dta", "w", force_zip64=True) as member,
    ):
        member.write(before + (rows * copies).to_bytes(8, "little") + between)
        for copy in range(copies):
            shifted = (numbers + PERSON_STEP * copy).astype("<i4")
            table[:, :4] = shifted[:, None].view(np.uint8).reshape(rows, 4)
            member.write(table.tobytes())
        member.write(b"</data>")
    return rows * copies


def long_frame() -> Any:
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        write_long(Path(folder), seed=42, scale=1.0)
        with zipfile.ZipFile(Path(folder) / LONG.path) as archive:
            frame = pd.read_stata(io.BytesIO(archive.read(archive.namelist()[0])), convert_categoricals=False)
    frame = frame[["ID", *(name.upper() for name in VARIABLES if name != "id")]]
    return widened(frame.reset_index(drop=True), REAL_WIDTH)


def person_frame(rows: int) -> Any:
    import pandas as pd

    rng = np.random.default_rng(1)
    ids = {"ID": np.arange(1001, 1001 + rows, dtype=np.int32)}
    values = {name: rng.integers(0, 3, rows).astype(np.int16) for name in variables()}
    return widened(pd.DataFrame({**ids, **values}), REAL_PERSON_WIDTH)


def measured(function: Callable[..., None], *arguments: Any) -> tuple[float, float]:
    """Run in a fresh process; return its processor time in seconds and its highest memory in MiB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, kilobytes = pool.apply(_measured, (function, arguments))
    return seconds, kilobytes / 1024


def _measured(function: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[float, int]:
    start = time.process_time()
    function(*arguments)
    # Not the resource usage, which a new process inherits from the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return time.process_time() - start, int(status.partition("VmHWM:")[2].split()[0])


def ours(source: str, folder: Path) -> None:
    chosen: Any = {"long": Psid, "persons": PsidMainStudy}[source]()
    chosen.build(folder, folder, report=BuildReport())


def pandas_chunks(source: str, folder: Path) -> None:
    """The same columns of the long file in chunks of pandas, filtered alike, and written."""
    import pandas as pd

    path = folder / {"long": LONG, "persons": MAIN_STUDY}[source].path
    columns = [name.upper() for name in VARIABLES]
    with (
        zipfile.ZipFile(path) as archive,
        archive.open("file.dta") as member,
        pd.read_stata(member, columns=columns, chunksize=20_000, convert_categoricals=False) as reader,
    ):
        kept = [chunk[(chunk.RESPONSE == 0) | (chunk.PANEL_CURRENT == 1)] for chunk in reader]
    pd.concat(kept).to_parquet(folder / "peer.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 3, 9])
    parser.add_argument("--persons", type=int, nargs="+", default=[2_000, 8_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_releases(folder)
        frame = long_frame()
        figures = []
        print(f"{'file':<10}{'records':>12}{'reader':>10}{'cpu s':>8}{'MiB':>8}")
        for copies in options.copies:
            records = write(folder / LONG.path, frame, copies)
            # In an archive pandas goes back to the start for every chunk, so it reads the smallest file only.
            for reader in (ours, pandas_chunks) if copies == options.copies[0] else (ours,):
                seconds, memory = measured(reader, "long", folder)
                print(f"{'long':<10}{records:>12,}{reader.__name__[:8]:>10}{seconds:>8.1f}{memory:>8.0f}")
                if reader is ours:
                    figures.append((records, memory))
        project(figures, REAL_RECORDS, "records")
        del frame
        figures = []
        for persons in options.persons:
            write(folder / MAIN_STUDY.path, person_frame(min(persons, 1_000)), max(1, persons // 1_000))
            seconds, memory = measured(ours, "persons", folder)
            print(f"{'persons':<10}{persons:>12,}{'ours':>10}{seconds:>8.1f}{memory:>8.0f}")
            figures.append((persons, memory))
        project(figures, REAL_PERSONS, "persons")


def project(figures: list[tuple[int, float]], real: int, what: str) -> None:
    (first, low), (last, high) = figures[0], figures[-1]
    slope = (high - low) / max(1, last - first)
    print(f"{slope * 1e6:,.0f} MiB per million {what}; {low + slope * (real - first):,.0f} MiB for {real:,}")


if __name__ == "__main__":
    main()
