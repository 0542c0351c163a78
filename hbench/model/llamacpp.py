"""`llamacpp:PATH.gguf`: a GGUF file, in this process or, with ``base_url=``, behind llama.cpp's server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hbench.core import Completion, Deliver, Failure, JsonValue, Model, ModelContext, ModelError, Outcome, Request
from hbench.model.generation import MAX_TOKENS, Draw, draw_seed, render_chat
from hbench.model.openai import ChatWire, TextWire
from hbench.model.options import Options
from hbench.model.provider import ProviderModel
from hbench.model.structured import Structured
from hbench.model.thinking import split_thinking
from hbench.model.weights import file_fingerprint

CONTEXT = 4096
"""Tokens of the context where ``n_ctx=`` does not say."""


def create(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Model:
    """Make the back end from its words: the server's with ``base_url=``, else the one in this process.

    In this process all other options are arguments of llama-cpp-python's `Llama` (``n_ctx``, ``n_gpu_layers``,
    ``n_threads``, ``chat_format``, ...).

    Raises
    ------
    ModelError
        Without a file, or where llama-cpp-python is not installed.
    """
    if not argument:
        raise ModelError("model llamacpp: which one? Write llamacpp:PATH.gguf")
    if "base_url" in options:
        return LlamaServer.create(argument, options, context)
    path = Path(argument).expanduser()
    if not path.is_file():
        raise ModelError(f"model llamacpp:{argument}: there is no such file")
    try:
        import llama_cpp  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise ModelError(
            f"model llamacpp:{argument} needs llama-cpp-python",
            hint="pip install 'hbench[llamacpp]', or start llama.cpp's server and give base_url=URL",
        ) from error
    read = Options("llamacpp", options)
    n_ctx = read.integer("n_ctx", CONTEXT)
    chat = read.choice("chat_template", "on", ("on", "off")) == "on"
    return LlamaCpp(path, {**read.rest(), "n_ctx": n_ctx}, seed=context.seed, chat=chat)


@dataclass
class ServerWire(ChatWire):
    """The chat completions of llama.cpp's server, whose model is known by the file's content where it is here."""

    content: str = ""

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The file's SHA-256, or its name where it lies elsewhere."""
        structured = {"structured": True} if self.structured else {}
        return {"back_end": "llamacpp-server", "model": self.content, **structured}


class ServerTextWire(ServerWire, TextWire):
    """Its completions, for plain texts."""

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The file, and that it is asked past its chat template."""
        return {**super().identity, "chat_template": False}


class LlamaServer(ProviderModel):
    """A GGUF file behind llama.cpp's server, named by its path or by its name there."""

    provider = "llamacpp"
    official = ""
    variables = ()

    @classmethod
    def make_wire(cls, argument: str, key: str | None, structured: Structured | None, read: Options) -> ServerWire:
        """Make the format of chats or of plain texts."""
        path = Path(argument).expanduser()
        content = file_fingerprint(path) if path.is_file() else argument
        form = ServerWire if read.choice("chat_template", "on", ("on", "off")) == "on" else ServerTextWire
        return form(path.name, key=key, structured=structured, content=content)


class LlamaCpp:
    """A GGUF file in this process, one answer after the other.

    Parameters
    ----------
    path : Path
        The file.
    arguments : mapping
        Of llama-cpp-python's `Llama`.
    seed : int
        Seed of the evaluation, used where the sampling has none.
    chat : bool
        Whether prompts pass through the file's chat template.

    Notes
    -----
    Every draw has a seed of its own that is made of the prompt and the draw's number. Where no temperature is given it
    is 1, with neither top-p nor top-k: the file says nothing of its makers' choice.

    llama.cpp goes on from what it has read before, and a prompt that is read in other portions has numbers with other
    last bits, from which other words are drawn. So every prompt is read afresh, once, and each draw begins at its last
    token.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(self, path: Path, arguments: Mapping[str, JsonValue], *, seed: int, chat: bool = True) -> None:
        self.name = f"llamacpp:{path.name}"
        self._path = path
        self._arguments = dict(arguments)
        self._seed = seed
        self._chat = chat
        self._llama: Any = None
        self._identity: dict[str, JsonValue] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llamacpp")

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The file by its content, and what changes answers."""
        if self._identity is None:
            form = {name: self._arguments[name] for name in ("chat_format",) if name in self._arguments}
            if not self._chat:
                form["chat_template"] = False
            about = {"back_end": "llamacpp", "model": file_fingerprint(self._path), **form}
            self._identity = {**about, "max_tokens": MAX_TOKENS, "seed": self._seed}
        return self._identity

    def unsupported(self, task: str) -> str | None:
        """Every task that has prompts can be asked."""
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Generate every draw of every request.

        Raises
        ------
        ModelError
            The file cannot be loaded.
        """
        loop = asyncio.get_running_loop()
        if self._llama is None:
            self._llama = await loop.run_in_executor(self._thread, self._load)
        for request in requests:
            unread = await loop.run_in_executor(self._thread, self._read, request)
            for draw in request.draws:
                outcome: Outcome
                if unread is None:
                    outcome = await loop.run_in_executor(self._thread, self._generate, Draw(request, (draw,)))
                else:
                    outcome = unread
                await deliver(request, draw, outcome)

    async def aclose(self) -> None:
        """Free the model."""
        llama, self._llama = self._llama, None
        if llama is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, llama.close)
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _load(self) -> Any:
        from llama_cpp import Llama

        try:
            llama = Llama(str(self._path), verbose=False, **self._arguments)
        except (ValueError, TypeError, OSError, AssertionError) as error:
            raise ModelError(f"model {self.name} cannot be loaded: {error}", file=self._path) from error
        # llama-cpp-python would take Llama 2's form without a word.
        if self._chat and "tokenizer.chat_template" not in llama.metadata and "chat_format" not in self._arguments:
            raise ModelError(
                f"model {self.name}: the file holds no chat template",
                file=self._path,
                hint="a base model takes plain text: adapter=plain_text; or name a form with chat_format=NAME",
            )
        return llama

    def _read(self, request: Request) -> Failure | None:
        """Read a prompt from its beginning."""
        self._llama.reset()
        found = self._complete(request, max_tokens=1)
        if isinstance(found, Failure):
            return found
        # Otherwise the first draw, and it alone, would take the numbers that are there.
        self._llama.n_tokens = found["usage"]["prompt_tokens"] - 1
        return None

    def _generate(self, draw: Draw) -> Outcome:
        found = self._complete(draw.request, seed=draw_seed(self._seed, draw))
        if isinstance(found, Failure):
            return found
        choice = found["choices"][0]
        text, reasoning = split_thinking((choice["message"]["content"] if self._chat else choice["text"]) or "")
        usage = found["usage"]
        return Completion(text, reasoning, usage["prompt_tokens"], usage["completion_tokens"])

    def _complete(self, request: Request, **given: Any) -> Any:
        """Return llama-cpp-python's reply, or the failure that the prompt is too long."""
        sampling = request.sampling
        if sampling.reasoning_effort is not None:
            raise ModelError(f"model {self.name} has no reasoning_effort", hint="leave it out")
        settings: dict[str, Any] = {
            "temperature": 1.0 if sampling.temperature is None else sampling.temperature,
            "top_p": 1.0 if sampling.top_p is None else sampling.top_p,
            "top_k": 0 if sampling.top_k is None else sampling.top_k,
            "min_p": 0.0 if sampling.min_p is None else sampling.min_p,
            "max_tokens": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
            "stop": list(sampling.stop),
            **sampling.extra,
            **given,
        }
        try:
            if self._chat:
                return self._llama.create_chat_completion([one._asdict() for one in request.messages], **settings)
            return self._llama.create_completion(render_chat(None, request.messages, chat=False, name=""), **settings)
        except ValueError as error:
            if "context window" in str(error):
                return Failure("request", "context_too_long", str(error))
            raise ModelError(f"model {self.name}: {error}") from error
