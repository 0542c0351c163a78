"""`vllm-server:NAME_OR_FOLDER`: a server of vLLM's that is started for the evaluation and stopped after it.

For whoever wants the server's own reading of chats, reasoning and structured answers. On one machine the offline engine
(`vllm:`) does the same work with one process less.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from hbench.core import Deliver, JsonValue, ModelContext, ModelError, Request, Sampling
from hbench.model.generation import Draw, draw_seed
from hbench.model.http import HttpModel
from hbench.model.http_options import read_http_settings
from hbench.model.http_settings import HttpSettings
from hbench.model.openai import ChatWire, TextWire
from hbench.model.options import Options
from hbench.model.vllm_engine import ENVIRONMENT, device_arguments, need_vllm
from hbench.model.vllm_options import VllmWords, read_words

_START = 1800.0
"""Seconds that a server has to load its model."""
_STOP = 30.0
"""Seconds that it has to end."""
_SERVED, _ADAPTED = "model", "adapted"
"""What the server calls the model, and the model with its adapter."""
_TAIL = 1500
"""Characters of the server's log that are shown where it fails."""


class VllmServer:
    """A model behind a server of its own.

    Parameters
    ----------
    words : VllmWords
        The model and vLLM's arguments.
    settings : HttpSettings
        How to ask; the address is found when the server starts.
    seed : int
        Seed of the evaluation, used where the sampling has none.
    start : float
        Seconds that the server has to load its model.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(self, words: VllmWords, settings: HttpSettings, *, seed: int, start: float = _START) -> None:
        self.name = words.name
        self._words = words
        self._settings = settings
        self._seed = seed
        self._start = start
        self._identity: dict[str, JsonValue] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._http: HttpModel | None = None
        self._log: Path | None = None

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> VllmServer:
        """Make the back end from its words; options of no one else are the server's arguments.

        Raises
        ------
        ModelError
            Without a model, for a folder that is not there, or where vLLM is not installed.
        """
        read = Options("vllm-server", options)
        # As many as it can work on: what waits, waits in the server.
        settings = replace(
            read_http_settings(read, f"vllm-server:{argument}", ("http://127.0.0.1",), path=ChatWire.path),
            concurrency=read.integer("concurrency", 256),
        )
        start = read.number("start_timeout", _START, positive=True)
        words = read_words("vllm-server", argument, read)
        need_vllm(words.name)
        return cls(words, settings, seed=context.seed, start=start)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Model and adapter by their content, and the settings that change answers."""
        if self._identity is None:
            self._identity = {**self._words.identity, "back_end": "vllm-server", "seed": self._seed}
        return self._identity

    def unsupported(self, task: str) -> str | None:
        """Every task that has prompts can be asked."""
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Start the server if it is not running, and ask it.

        Raises
        ------
        ModelError
            Where the server does not start or stops answering; what was delivered stays.
        """
        if self._http is None:
            self._http = await self._serve()
        await self._http.answer(requests, deliver)

    @property
    def retries(self) -> Mapping[str, int]:
        """Tries that failed and were made again, by the name of the fault."""
        return {} if self._http is None else self._http.retries

    async def aclose(self) -> None:
        """Stop the server."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()
        process, self._process = self._process, None
        if process is not None:
            await asyncio.get_running_loop().run_in_executor(None, _stop, process)
        if http is not None and self._log is not None:
            self._log.unlink(missing_ok=True)

    async def _serve(self) -> HttpModel:
        port = _free_port()
        needed = await asyncio.get_running_loop().run_in_executor(None, device_arguments)
        words = replace(self._words, arguments={**needed, **self._words.arguments})
        with tempfile.NamedTemporaryFile(prefix="hbench-vllm-", suffix=".log", delete=False) as log:
            self._process = subprocess.Popen(  # noqa: S603 - a list, and no shell
                command(words, port),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**ENVIRONMENT, **os.environ},
                # Ctrl-C is for this program, which then stops the server.
                start_new_session=True,
            )
        self._log = Path(log.name)
        await self._ready(self._process, port, self._log)
        form = ServedChat if self._words.chat else ServedText
        name = _SERVED if self._words.lora is None else _ADAPTED
        wire = form(name, base_seed=self._seed, template=self._words.template if self._words.chat else {})
        return HttpModel(self.name, wire, replace(self._settings, urls=(f"http://127.0.0.1:{port}/v1",)))

    async def _ready(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        import aiohttp

        deadline = asyncio.get_running_loop().time() + self._start
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            while True:
                if process.poll() is not None:
                    raise self._failed(f"ended with {process.returncode} before it was ready", log)
                try:
                    async with session.get(f"http://127.0.0.1:{port}/health") as response:
                        if response.status == 200:
                            return
                except (aiohttp.ClientError, TimeoutError):
                    pass  # It is not there yet.
                if asyncio.get_running_loop().time() > deadline:
                    raise self._failed(f"was not ready within {self._start:g} s (start_timeout)", log)
                await asyncio.sleep(0.25)

    def _failed(self, what: str, log: Path) -> ModelError:
        tail = log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()
        return ModelError(f"model {self.name}: its server {what}", file=log, hint=f"The end of its log:\n{tail}")


@dataclass
class ServedChat(ChatWire):
    """Chat completions with the seed of every draw, so that the same command gives the same answers.

    Draws are requests of their own: the server's prefix cache reads a prompt once all the same, and greedy decoding
    knows no ``n``.
    """

    base_seed: int = 0
    template: Mapping[str, JsonValue] = field(default_factory=dict)

    def _seed(self, request: Request, draws: Sequence[int]) -> int:
        return draw_seed(self.base_seed, Draw(request, tuple(draws)))

    def _settings(self, sampling: Sampling) -> bytes:
        if not self.template:
            return super()._settings(sampling)
        told = {"chat_template_kwargs": dict(self.template)}
        return super()._settings(replace(sampling, extra={**told, **sampling.extra}))


class ServedText(ServedChat, TextWire):
    """The same for plain texts."""


def command(words: VllmWords, port: int) -> list[str]:
    """Return the command that starts a server."""
    arguments: dict[str, JsonValue] = {"host": "127.0.0.1", "port": port, **words.arguments}
    if words.reasoning_parser is not None:
        arguments["reasoning_parser"] = words.reasoning_parser
    if words.lora is not None:
        arguments |= {
            "enable_lora": True,
            "max_lora_rank": words.lora_rank(),
            "lora_modules": f"{_ADAPTED}={words.lora}",
        }
    flags = (part for name, value in arguments.items() for part in _flag(name.replace("_", "-"), value))
    vllm = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", words.model]
    return [*vllm, "--served-model-name", _SERVED, *flags]


def _flag(name: str, value: JsonValue) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", value if isinstance(value, str) else json.dumps(value)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_STOP)
    except subprocess.TimeoutExpired:
        pass  # It had its time.
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
