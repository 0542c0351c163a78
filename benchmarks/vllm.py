"""K draws of each record on vLLM: hbench against vLLM's own loop, and against asking each draw alone.

    HBENCH_TEST_LM=FOLDER python benchmarks/vllm.py                                  # 100 records, 16 draws
    HBENCH_TEST_LM=FOLDER python benchmarks/vllm.py --records 20 --blocks 2          # on a small machine

Three ways of the same requests, each in a process with an engine of its own and the same arguments. The engines are
loaded first. Then the records are taken block by block: every way does a block, one after the other, in an order that
changes from block to block, so that what else the machine does falls on all of them alike. Every draw has exactly
`--tokens` tokens, whatever the model would say.

    hbench   `vllm:` into a journal on disk, every answer durable
    chat     one call of `LLM.chat` a block with n=K, prefix cache on: nothing kept until the end
    alone    `LLM.chat` for one draw after the other, prefix cache off; of `--alone` records a block, as it takes long

Goals: hbench has at least 0.95 of chat's draws a second, and at least 3 times those of alone. Told are the ratio of the
sums over all blocks and the spread of the blocks' ratios, and beside wall time the processor time of all processes
involved. The exit code says whether the goals are met in wall time.
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
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

# This file is called as the package that it measures, which must be found behind it.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
WAYS = ("hbench", "chat", "alone")
GOALS = {"chat": 0.95, "alone": 3.0}
CPU = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "2",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
}
"""Environment of vLLM's CPU build, where nothing else is said: three engines share the machine."""
SYSTEM = "You answer as the person who is described. Give one number in brackets and nothing else."


@dataclass(frozen=True)
class Setting:
    """What is asked, and of what engine."""

    model: str
    records: int
    blocks: int
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


class Hbench:
    """Asks through hbench, journal included."""

    def __init__(self, setting: Setting) -> None:
        from types import SimpleNamespace

        from hbench.core import Sampling
        from hbench.model.vllm import create_vllm
        from hbench.run.journal import Journal
        from hbench.run.keys import key_maker

        context: Any = SimpleNamespace(seed=42)
        self._setting = setting
        self._model = create_vllm(setting.model, setting.engine, context)
        self._sampling = Sampling(temperature=1.0, max_tokens=setting.tokens, extra={"ignore_eos": True})
        self._key_of = key_maker("00" * 32, "messages")
        self._folder = tempfile.TemporaryDirectory()
        self._journal = Journal(Path(self._folder.name) / "journal.sqlite")
        self._loop = asyncio.Runner()
        self.ask(range(-1, 0))

    def ask(self, records: range) -> int:
        """Ask for the draws of these records and return how many are stored."""
        before = len(self._journal)
        self._loop.run(self._answer(records))
        return len(self._journal) - before

    async def _answer(self, records: range) -> None:
        await self._model.answer(map(self._request, records), self._deliver)
        await self._journal.flush()

    async def _deliver(self, asked: Any, draw: int, outcome: Any) -> None:
        await self._journal.add(self._key_of(asked), draw, "m", outcome)

    def _request(self, number: int) -> Any:
        from hbench.core import AnswerSpec, Message, Record, Request

        messages = tuple(Message(**turn) for turn in self._setting.turns(number))  # type: ignore[arg-type]
        record = Record(task="bench/gift", id=str(number), messages=messages)
        return Request(record, messages, AnswerSpec(()), self._sampling, tuple(range(self._setting.draws)))

    def close(self) -> None:
        """End the engine."""
        self._loop.run(self._model.aclose())
        self._loop.close()
        self._journal.close()
        self._folder.cleanup()


class Bare:
    """Asks vLLM's own interface."""

    prefix_cache = True

    def __init__(self, setting: Setting) -> None:
        from vllm import LLM

        from hbench.model.vllm_engine import device_arguments

        self._setting = setting
        self._llm = LLM(setting.model, enable_prefix_caching=self.prefix_cache, **device_arguments(), **setting.engine)
        self._chat(range(-1, 0), 1)

    def ask(self, records: range) -> int:
        """Ask for the draws of these records with one call."""
        return self._chat(records, self._setting.draws)

    def _chat(self, records: range, draws: int) -> int:
        from vllm import SamplingParams

        settings = SamplingParams(n=draws, temperature=1.0, max_tokens=self._setting.tokens, ignore_eos=True, seed=1)
        results = self._llm.chat([self._setting.turns(number) for number in records], settings, use_tqdm=False)
        return sum(len(result.outputs) for result in results)

    def close(self) -> None:
        """Leave the engine to the process's end."""


class Alone(Bare):
    """Asks for every draw by itself."""

    prefix_cache = False

    def ask(self, records: range) -> int:
        """Ask for one draw after the other."""
        return sum(self._chat(range(number, number + 1), 1) for number in records for _ in range(self._setting.draws))


MADE = {"hbench": Hbench, "chat": Bare, "alone": Alone}


def serve(way: str, setting: Setting) -> None:
    """Load one way's engine, then measure the blocks that standard input names."""
    asked = MADE[way](setting)
    print(json.dumps({"draws": 0}), flush=True)
    for line in sys.stdin:
        clock = Clock()
        draws = asked.ask(range(*json.loads(line)))
        wall, cpu = clock.stop()
        print(json.dumps({"draws": draws, "wall": wall, "cpu": cpu}), flush=True)
    asked.close()


class Way:
    """One way in a process of its own."""

    def __init__(self, name: str, setting: Setting) -> None:
        self.name = name
        self.blocks: list[dict[str, float]] = []
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - until the process ends
        command = [sys.executable, __file__, "--way", name, "--setting", json.dumps(asdict(setting))]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={"VLLM_LOGGING_LEVEL": "ERROR", **CPU, **os.environ},
        )
        self._next()

    def ask(self, start: int, stop: int) -> None:
        """Measure one block."""
        assert self._process.stdin is not None
        print(json.dumps([start, stop]), file=self._process.stdin, flush=True)
        self.blocks.append(self._next())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def rate(self, unit: str, block: int | None = None) -> float:
        """Return draws a second, of one block or of all."""
        blocks = self.blocks if block is None else [self.blocks[block]]
        return sum(one["draws"] for one in blocks) / sum(one[unit] for one in blocks)

    def _next(self) -> dict[str, float]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # vLLM writes on standard output too.
            if line.startswith('{"draws"'):
                told: dict[str, float] = json.loads(line)
                return told
        self._log.seek(0)
        raise SystemExit(f"{self.name} failed:\n{self._log.read()[-4000:]}")


def compare(setting: Setting) -> bool:
    """Measure all ways block by block; tell the ratios, and return whether the goals are met."""
    ways = {name: Way(name, setting) for name in WAYS}
    size = setting.records // setting.blocks
    for block in range(setting.blocks):
        turn = block % len(WAYS)
        for name in (*WAYS[turn:], *WAYS[:turn]):
            start = block * size
            ways[name].ask(start, start + (setting.alone if name == "alone" else size))
        print(
            f"block {block + 1:3}:",
            *(f"{name} {way.rate('wall', block):7.2f} draws/s" for name, way in ways.items()),
            sep="  ",
            flush=True,
        )
    for way in ways.values():
        way.close()
        draws, wall, cpu = (sum(one[unit] for one in way.blocks) for unit in ("draws", "wall", "cpu"))
        print(f"{way.name:8} {draws:6.0f} draws {wall:8.1f} s wall {cpu:8.1f} s CPU {draws / wall:8.2f} draws/s")
    met = True
    for other, goal in GOALS.items():
        own, peer = ways["hbench"], ways[other]
        wall, cpu = (own.rate(unit) / peer.rate(unit) for unit in ("wall", "cpu"))
        each = sorted(own.rate("wall", block) / peer.rate("wall", block) for block in range(setting.blocks))
        met &= wall >= goal
        print(
            f"hbench against {other}: {wall:.2f} by wall time (blocks {each[0]:.2f} to {each[-1]:.2f}, median "
            f"{median(each):.2f}), {cpu:.2f} by processor time; goal {goal:g}"
        )
    return met


def main() -> int:
    """Measure all ways and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default=os.environ.get("HBENCH_TEST_LM"))
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--alone", type=int, default=1, help="records of a block that the slow way does")
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("--words", type=int, default=300, help="words of a prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens of an answer")
    parser.add_argument("--seqs", type=int, default=64, help="vLLM's max_num_seqs")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--setting", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        serve(given.way, Setting(**json.loads(given.setting)))
        return 0
    if not given.model:
        parser.error("name a model's folder with --model or HBENCH_TEST_LM")
    if given.records % given.blocks or given.alone > given.records // given.blocks:
        parser.error("the records must fill the blocks, and a block must have as many as the slow way does")
    names = [one.name for one in fields(Setting)]
    setting = Setting(**{name: getattr(given, name) for name in names})
    print(f"{setting}\nengine: {setting.engine}\n", flush=True)
    return 0 if compare(setting) else 1


if __name__ == "__main__":
    sys.exit(main())
