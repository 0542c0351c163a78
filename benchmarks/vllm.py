"""K draws of each record on vLLM: hbench against vLLM's own loop, and against asking each draw alone.

    HBENCH_TEST_LM=FOLDER python benchmarks/vllm.py                                  # 100 records, 16 draws
    HBENCH_TEST_LM=FOLDER python benchmarks/vllm.py --records 12 --alone 1           # on a small machine

Three ways of the same requests, each in a fresh process with an engine of its own and the same arguments, taken in
turns `--repeat` times. Loading and a first request are outside the measured span. Every draw has exactly `--tokens`
tokens, whatever the model would say.

    hbench   `vllm:` into a journal on disk, every answer durable
    chat     one call of `LLM.chat` with n=K, prefix cache on: nothing kept until the end
    alone    `LLM.chat` for one draw after the other, prefix cache off; of `--alone` records, since it takes so long

Goals: hbench has at least 0.95 of chat's draws a second, and at least 3 times those of alone. On a shared machine wall
time depends on the others; the processor time of all processes involved is told beside it. The exit code says whether
the goals are met in wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

# This file is called as the package that it measures, which must be found behind it.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
WAYS = ("hbench", "chat", "alone")
GOALS = {"chat": 0.95, "alone": 3.0}
SYSTEM = "You answer as the person who is described. Give one number in brackets and nothing else."


@dataclass(frozen=True)
class Setting:
    """What is asked, and of what engine."""

    model: str
    records: int
    alone: int
    draws: int
    words: int
    tokens: int
    seqs: int
    dtype: str

    @property
    def engine(self) -> dict[str, Any]:
        """Arguments of the engine, the same for all ways."""
        return {
            "dtype": self.dtype,
            "max_model_len": 2048,
            "max_num_seqs": self.seqs,
            "enforce_eager": True,
        }

    def turns(self, number: int) -> list[dict[str, str]]:
        """Return a prompt of about the length of a survey prompt: its people share a task and little else."""
        told = " ".join(f"{word}: {(number * 7919 + place * 104729) % 997};" for place, word in self._fields())
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"Case {number}. {told} How much?"}]

    def _fields(self) -> list[tuple[int, str]]:
        names = ("income", "rent", "savings", "age", "debt", "hours")
        return [(place, names[place % len(names)]) for place in range(self.words // 3)]


class Clock:
    """Wall time and the processor time of this process and all that it started."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), self._cpu()

    def stop(self) -> tuple[float, float]:
        """Return both since the start."""
        return time.perf_counter() - self.wall, self._cpu() - self.cpu

    @staticmethod
    def _cpu() -> float:
        import psutil

        here = psutil.Process()
        return sum(sum(one.cpu_times()[:2]) for one in (here, *here.children(recursive=True)))


def measure_hbench(setting: Setting) -> tuple[int, float, float]:
    """Ask through hbench, journal included."""
    from types import SimpleNamespace

    from hbench.core import AnswerSpec, Message, Record, Request, Sampling
    from hbench.model.vllm import create_vllm
    from hbench.run.journal import Journal
    from hbench.run.keys import key_maker

    context: Any = SimpleNamespace(seed=42)
    model = create_vllm(setting.model, setting.engine, context)
    sampling = Sampling(temperature=1.0, max_tokens=setting.tokens, extra={"ignore_eos": True})
    key_of = key_maker("00" * 32, "messages")

    def request(number: int, draws: int) -> Request:
        messages = tuple(Message(**turn) for turn in setting.turns(number))  # type: ignore[arg-type]
        record = Record(task="bench/gift", id=str(number), messages=messages)
        return Request(record, messages, AnswerSpec(()), sampling, tuple(range(draws)))

    async def work(journal: Journal) -> tuple[float, float]:
        async def deliver(asked: Request, draw: int, outcome: Any) -> None:
            await journal.add(key_of(asked), draw, "m", outcome)

        try:
            await model.answer([request(-1, 1)], deliver)
            clock = Clock()
            await model.answer((request(number, setting.draws) for number in range(setting.records)), deliver)
            await journal.flush()
            return clock.stop()
        finally:
            await model.aclose()

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal.sqlite")
        wall, cpu = asyncio.run(work(journal))
        done = len(journal) - 1
        journal.close()
    return done, wall, cpu


def _bare(setting: Setting, *, prefix_cache: bool) -> tuple[Any, Callable[[int], Any]]:
    from vllm import LLM, SamplingParams

    from hbench.model.vllm_engine import device_arguments

    llm = LLM(setting.model, enable_prefix_caching=prefix_cache, **device_arguments(), **setting.engine)

    def settings(draws: int) -> Any:
        return SamplingParams(n=draws, temperature=1.0, max_tokens=setting.tokens, ignore_eos=True, seed=1)

    llm.chat([setting.turns(-1)], settings(1), use_tqdm=False)
    return llm, settings


def measure_chat(setting: Setting) -> tuple[int, float, float]:
    """Ask with one call of `LLM.chat`."""
    llm, settings = _bare(setting, prefix_cache=True)
    clock = Clock()
    prompts = [setting.turns(number) for number in range(setting.records)]
    results = llm.chat(prompts, settings(setting.draws), use_tqdm=False)
    return sum(len(result.outputs) for result in results), *clock.stop()


def measure_alone(setting: Setting) -> tuple[int, float, float]:
    """Ask for every draw by itself."""
    llm, settings = _bare(setting, prefix_cache=False)
    clock = Clock()
    for number in range(setting.alone):
        for _ in range(setting.draws):
            llm.chat([setting.turns(number)], settings(1), use_tqdm=False)
    return setting.alone * setting.draws, *clock.stop()


MEASURES = {"hbench": measure_hbench, "chat": measure_chat, "alone": measure_alone}


def apart(way: str, setting: Setting) -> dict[str, float]:
    """Measure one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--setting", json.dumps(asdict(setting))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    # vLLM writes on standard output too.
    told: dict[str, float] = json.loads(next(line for line in done.stdout.splitlines() if line.startswith('{"draws"')))
    return told


def main() -> int:
    """Measure all ways and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default=os.environ.get("HBENCH_TEST_LM"))
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--alone", type=int, help="records of the slow way (default: a tenth)")
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("--words", type=int, default=300, help="words of a prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens of an answer")
    parser.add_argument("--seqs", type=int, default=64, help="vLLM's max_num_seqs")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--setting", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        draws, wall, cpu = MEASURES[given.way](Setting(**json.loads(given.setting)))
        print(json.dumps({"draws": draws, "wall": wall, "cpu": cpu}))
        return 0
    if not given.model:
        parser.error("name a model's folder with --model or HBENCH_TEST_LM")
    setting = Setting(
        given.model,
        given.records,
        given.alone or max(1, given.records // 10),
        given.draws,
        given.words,
        given.tokens,
        given.seqs,
        given.dtype,
    )
    print(f"{setting}\nengine: {setting.engine}\n")
    rates: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(given.repeat):
        for way in WAYS:
            told = apart(way, setting)
            per_wall, per_cpu = told["draws"] / told["wall"], told["draws"] / told["cpu"]
            rates[way].append((per_wall, per_cpu))
            print(
                f"{way:8} {told['draws']:6.0f} draws {told['wall']:8.1f} s wall {told['cpu']:8.1f} s CPU "
                f"{per_wall:8.2f} draws/s {per_cpu:8.2f} draws/CPU s",
                flush=True,
            )
    met = True
    for other, goal in GOALS.items():
        wall, cpu = (
            median(own[i] / peer[i] for own, peer in zip(rates["hbench"], rates[other], strict=True)) for i in (0, 1)
        )
        met &= wall >= goal
        print(f"hbench against {other}: {wall:.2f} by wall time, {cpu:.2f} by processor time; goal {goal:g}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
