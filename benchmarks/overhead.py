"""What the evaluator itself costs: wall time, processor time and memory from command to table.

    python benchmarks/overhead.py                # 2,000 prompts, 50 ms, 64 in flight; again from the journal
    python benchmarks/overhead.py --flat         # 50,000 prompts: memory stays flat
    python benchmarks/overhead.py --null         # a model that answers at once, 100,000 records
    python benchmarks/overhead.py --profile      # where the time goes
    python benchmarks/overhead.py --peers        # lm-eval beside it, and inspect_ai with --inspect-python PYTHON

The mock server is a process of its own and shares the machine. Every measured command is a fresh process; `ru_maxrss`
and its processor time come from the operating system. The exit code says whether the targets are met.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TASK = """
task: spend
suite: overhead
topic: consumption
source: none
key: {id: id, time: time}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array}
metrics: [relmae, nmae]
"""
NULL = """
import sys
from hbench.cli.main import main
from hbench.core import Completion
from hbench.model import deliver_all
from hbench import evaluate

class Null:
    name, reads, identity = "null", "messages", {"model": "null"}
    def unsupported(self, task): return None
    async def answer(self, requests, deliver):
        await deliver_all(((r, d, Completion("[14]")) for r in requests for d in r.draws), deliver)
    async def aclose(self): pass

result = evaluate("spend", Null(), data="data", include_paths=["tasks"], out=sys.argv[1])
print(result.table())
"""


LM_EVAL = """
task: spend_peer
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{user}}}}"
doc_to_target: "{{{{assistant}}}}"
description: "You are a person in the United States. Answer with a JSON array of one number."
generation_kwargs: {{max_gen_toks: 32, until: []}}
metric_list: [{{metric: exact_match}}]
"""
INSPECT = """
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate

@task
def spend():
    return Task(
        dataset=json_dataset("{data}", FieldSpec(input="user", target="assistant", id="id")),
        solver=generate(),
        scorer=match(),
    )
"""


@dataclass(frozen=True)
class Cost:
    """What one process took: seconds of wall and processor, MiB at its largest."""

    wall: float
    cpu: float
    mib: float

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s wall {self.cpu:6.2f} s CPU {self.mib:6.0f} MiB"


def write(folder: Path, records: int, *, sentences: int = 6) -> None:
    """Write a task and its records; prompts have the length of a short survey prompt, or of so many sentences."""
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "tasks" / "spend.yaml").write_text(TASK)
    background = "You live with two others. Your household earned $52,000 last year before taxes. " * sentences
    with (folder / "data" / "spend.jsonl").open("w") as stream:
        for i in range(records):
            row = {
                "id": f"household-{i}",
                "time": "2020-01-01",
                "release_date": "2020-10-01",
                "system": "You are a person in the United States. Answer with a JSON array of one number.",
                "user": f"You have {i} dollars. {background}How much do you spend next quarter?",
                "assistant": f"[{i % 50 + 1}]",
                "naive_baseline": f"[{i % 40}]",
            }
            stream.write(json.dumps(row) + "\n")


def measure(command: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> Cost:
    """Run a command and return its cost. Bytecode is cached, as in every installed package.

    The environment is this process's, with `more` in it.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), **(more or {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{said}")
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / scale)


@contextlib.contextmanager
def server(latency: float, *words: str) -> Iterator[str]:
    """Start the mock server and yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hbench.testing.mock_server", "--answer", "[14]", "--latency", str(latency), *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def answered(url: str) -> int:
    """Return how many requests the server has answered."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as response:
        return int(json.load(response)["answered"])


def evaluation(url: str, out: str, *, slots: int = 64, more: str = "") -> list[str]:
    """Return the command that is measured."""
    program = "import sys; from hbench.cli.main import main; sys.exit(main())"
    words = ["--tasks", "spend", "--data", "data", "--include-path", "tasks", "--out", out]
    return [
        sys.executable,
        "-c",
        program,
        "eval",
        *words,
        "--model",
        f"openai:m,base_url={url},concurrency={slots}{more}",
    ]


def main() -> int:
    """Measure, print, and compare with the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--flat", action="store_true", help="2,000 against 50,000 prompts")
    parser.add_argument("--null", action="store_true", help="an instant model on 100,000 records")
    parser.add_argument("--profile", action="store_true", help="profile one cold run")
    parser.add_argument("--peers", action="store_true", help="lm-eval and inspect_ai on the same prompts")
    parser.add_argument("--inspect-python", metavar="PYTHON", help="an environment that has inspect_ai and openai")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.profile:
            return profile(folder)
        if given.flat:
            return flat(folder)
        if given.peers:
            return peers(folder, given.inspect_python)
        if given.null:
            return null(folder)
        return small(folder, given.repeats)


def small(folder: Path, repeats: int) -> int:
    """Measure 2,000 prompts, cold and from the journal; the best of some repeats, since the machine is shared."""
    write(folder, 2_000)
    cold, warm = [], []
    with server(0.05) as url:
        measure(evaluation(url, "warm-up"), folder)
        for i in range(repeats):
            cold.append(measure(evaluation(url, f"run{i}"), folder))
            warm.append(measure(evaluation(url, f"run{i}"), folder))
            print(f"cold {cold[-1]}   again {warm[-1]}", flush=True)
    wall, cpu, mib = (min(getattr(cost, part) for cost in cold) for part in ("wall", "cpu", "mib"))
    again = min(cost.wall for cost in warm)
    met = wall < 3 and cpu < 1.5 and mib < 120 and again < 1
    print(f"best: {wall:.2f} s wall (< 3), {cpu:.2f} s CPU (< 1.5), {mib:.0f} MiB (< 120), again {again:.2f} s (< 1)")
    return 0 if met else 1


def flat(folder: Path) -> int:
    """Compare the memory of 2,000 and 50,000 prompts."""
    costs = []
    with server(0.0) as url:
        for count in (2_000, 50_000):
            write(folder, count)
            costs.append(measure(evaluation(url, f"run{count}"), folder))
            print(f"{count:7,} prompts: {costs[-1]}", flush=True)
    small, large = (cost.mib for cost in costs)
    each = (large - small) * 1024 / 48_000
    print(f"{large - small:.0f} MiB more for 48,000 more ({each:.2f} KiB each): {large / small:.2f} times (< 1.15)")
    return 0 if large < 1.15 * small else 1


def null(folder: Path) -> int:
    """Measure what a record costs when the model costs nothing."""
    costs = []
    for count in (1_000, 100_000):
        write(folder, count)
        costs.append(measure([sys.executable, "-c", NULL, f"null{count}"], folder))
        print(f"{count:7,} records: {costs[-1]}", flush=True)
    each = (costs[1].cpu - costs[0].cpu) / 99_000 * 1e3
    print(f"{each:.3f} ms CPU a record beyond start-up (< 0.5)")
    return 0 if each < 0.5 else 1


def peers(folder: Path, inspect_python: str | None) -> int:
    """Measure 2,000 prompts with hbench and with whatever peer is installed, against one server."""
    write(folder, 2_000)
    (folder / "peers").mkdir()
    (folder / "peers" / "spend_peer.yaml").write_text(LM_EVAL.format(data=folder / "data" / "spend.jsonl"))
    (folder / "peers" / "spend_peer.py").write_text(INSPECT.format(data=folder / "data" / "spend.jsonl"))
    # Peers look for models and keys on the net otherwise.
    os.environ.update(HF_HUB_OFFLINE="1", OPENAI_API_KEY="none", INSPECT_LOG_DIR=str(folder / "inspect"))
    with server(0.05) as url:
        commands = {"hbench": evaluation(url, "own")}
        if importlib.util.find_spec("lm_eval"):
            chat = f"model=m,base_url={url}/chat/completions,num_concurrent=64,tokenized_requests=False"
            words = ["run", "--model", "local-chat-completions", "--model_args", chat, "--tasks", "spend_peer"]
            words += ["--include_path", "peers", "--apply_chat_template", "--output_path", "lm-eval", "--log_samples"]
            commands["lm-eval"] = [sys.executable, "-m", "lm_eval", *words]
        if inspect_python is not None:
            words = ["eval", "peers/spend_peer.py", "--model", "openai/m", "--model-base-url", url]
            words += ["--max-connections", "64", "--display", "plain", "-M", "responses_api=false"]
            commands["inspect_ai"] = [inspect_python, "-m", "inspect_ai", *words]
        costs = {}
        for name, command in commands.items():
            measure(command, folder)  # Bytecode and caches are there afterwards.
            if name == "hbench":
                command[command.index("own")] = "own-again"
            before = answered(url)
            costs[name] = measure(command, folder)
            # Peers may fail and exit with 0.
            if answered(url) - before != 2_000:
                raise SystemExit(f"{name} was answered {answered(url) - before:,} of 2,000 prompts")
            print(f"{name:>10}: {costs[name]}", flush=True)
    own = costs.pop("hbench")
    for name, cost in costs.items():
        print(f"{name}: {cost.wall / own.wall:.1f} times the wall time, {cost.cpu / own.cpu:.1f} times the CPU time")
    return 0 if costs and all(own.wall < cost.wall and own.cpu < cost.cpu for cost in costs.values()) else 1


def profile(folder: Path) -> int:
    """Show where a cold run's time goes."""
    write(folder, 2_000)
    with server(0.05) as url:
        measure(evaluation(url, "warm-up"), folder)
        _, _, program, *words = evaluation(url, "profiled")
        (folder / "program.py").write_text(program)
        measure([sys.executable, "-m", "cProfile", "-o", "profile", "program.py", *words], folder)
    import pstats

    pstats.Stats(str(folder / "profile")).sort_stats("tottime").print_stats(40)
    return 0


if __name__ == "__main__":
    sys.exit(main())
