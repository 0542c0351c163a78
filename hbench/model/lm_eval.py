"""Every back end that lm-evaluation-harness registers, Hugging Face transformers first of all.

lm-eval brings model loading, chat templates and batched generation; hbench brings the requests, hands finished chunks
to the journal, and keeps the event loop alive by working in a thread.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from hbench.core import Completion, Deliver, Failure, JsonValue, ModelContext, ModelError, Outcome, Request, stable_seed
from hbench.core.errors import first_line
from hbench.model.delivery import deliver_all
from hbench.model.generation import MAX_TOKENS, Draw, draw_seed, gen_kwargs, render_chat, takes_seeds
from hbench.model.likelihood import Continuations, Likelihoods, Scored
from hbench.model.lm_eval_load import load_model
from hbench.model.lm_eval_scores import count_tokens, excess_tokens, score
from hbench.model.options import Options
from hbench.model.thinking import begins_thinking, split_thinking
from hbench.model.weights import folder_fingerprint

_PLUMBING = frozenset(
    {
        "base_url", "batch_size", "ca_cert_path", "data_parallel_size", "device", "gpu_memory_utilization",
        "max_batch_size", "max_cpu_memory", "max_memory_per_gpu", "max_retries", "num_concurrent", "offload_folder",
        "parallelize", "tensor_parallel_size", "timeout", "verify_certificate",
    }
)  # fmt: skip
"""Options of lm-eval's classes that do not change answers, and so are no part of a model's identity."""
_PATHS = ("pretrained", "peft", "delta", "tokenizer")
"""Options whose value may be a folder: its content is the identity, not its name."""


def create_hf(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> LmEval:
    """Make `hf:NAME_OR_FOLDER`, transformers through lm-eval."""
    if not argument:
        raise ModelError("model hf: which one? Write hf:NAME or hf:FOLDER")
    if argument.startswith((".", "/", "~")) and not Path(argument).expanduser().is_dir():
        raise ModelError("there is no such model folder", file=argument)
    folder = Path(argument).expanduser()
    pretrained = str(folder) if folder.is_dir() else argument
    return LmEval.make("hf", {"pretrained": pretrained, "batch_size": 4, **options}, context, name=f"hf:{argument}")


def create_lm_eval(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> LmEval:
    """Make `lm-eval:TYPE,...` for any type that lm-eval registers; its options are those of lm-eval's class."""
    if not argument:
        raise ModelError("model lm-eval: which type? Write lm-eval:TYPE, as in lm-eval:hf,pretrained=NAME")
    return LmEval.make(argument, options, context, name=f"lm-eval:{argument}")


class LmEval:
    """A model of lm-eval's registry.

    Parameters
    ----------
    kind : str
        lm-eval's name of the type.
    arguments : mapping
        For the constructor of lm-eval's class.
    seed : int
        Seed of the evaluation, used where the sampling has none.
    chat : bool
        Whether prompts pass through the model's chat template; otherwise their turns are joined by blank lines.
    chunk_size : int
        Draws that are answered, and made durable, together.
    apart : bool
        Whether sampled draws are generated one by one where the back end takes no seeds (``seeding=draw``); see below.

    Notes
    -----
    Transformers samples a whole batch from one random stream, so what is drawn for one prompt hangs on those beside it,
    and a run that went on after a stop would differ from one that did not. By default every sampled draw is therefore
    generated alone, from a seed of its own; back ends that take a seed with each request (vLLM, servers) keep their
    batches. ``seeding=chunk`` samples in batches, which is faster on a GPU: equal chunks give equal answers, other
    chunks others. Greedy decoding needs no seed and is always batched. Chunks are made in the order of the plan and
    kept whole, so that a run that goes on forms the chunks that it would have formed; but 16-bit numbers round
    otherwise in other batches: of 24 greedy answers of a small model 3 differed between batches of one and of four.
    ``batch_size=1`` makes each answer independent of all others.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(
        self,
        name: str,
        kind: str,
        arguments: Mapping[str, JsonValue],
        *,
        seed: int,
        chat: bool,
        chunk_size: int,
        apart: bool = True,
    ) -> None:
        self.name = name
        self._kind = kind
        self._arguments = dict(arguments)
        self._seed = seed
        self._chat = chat
        self._chunk_size = chunk_size
        self._apart = apart
        self._identity: dict[str, JsonValue] | None = None
        self._model: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lm-eval")

    @classmethod
    def make(cls, kind: str, options: Mapping[str, JsonValue], context: ModelContext, *, name: str) -> LmEval:
        """Check what can be checked without loading anything heavy."""
        if importlib.util.find_spec("lm_eval") is None:
            raise ModelError(f"model {name} needs lm-eval", hint="pip install 'hbench[lm-eval]'")
        for secret in ("auth_token", "api_key", "header"):
            if secret in options:
                raise ModelError(f"model {name}: keys come from the environment, not from the option {secret}")
        read = Options(name, options)
        chat = read.choice("chat_template", "on", ("on", "off")) == "on"
        usual = max(4, 8 * _whole(options.get("num_concurrent")), 4 * _whole(options.get("batch_size")))
        chunk_size = read.integer("chunk_size", usual)
        apart = read.choice("seeding", "draw", ("draw", "chunk")) == "draw"
        return cls(name, kind, read.rest(), seed=context.seed, chat=chat, chunk_size=chunk_size, apart=apart)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Type, options that change answers, and the content of local folders."""
        if self._identity is None:
            settings = {key: value for key, value in self._arguments.items() if key not in _PLUMBING}
            for key in _PATHS:
                value = settings.get(key)
                if isinstance(value, str) and Path(value).is_dir():
                    settings[key] = f"sha256:{folder_fingerprint(Path(value))}"
            self._identity = {
                "back_end": "lm-eval",
                "type": self._kind,
                "settings": settings,
                "chat_template": self._chat,
                "max_tokens": MAX_TOKENS,
                "seed": self._seed,
                "seeding": "draw" if self._apart else "chunk",
            }
        return self._identity

    def unsupported(self, task: str) -> str | None:
        """Every task that has prompts can be asked."""
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Answer chunk by chunk; each is durable before the next begins, and one that is begun is finished.

        Raises
        ------
        ModelError
            Where the model cannot be loaded or fails; what was delivered stays.
        """
        for chunk in self._chunks(await self._loaded(), requests):
            work = asyncio.ensure_future(self._answer(chunk, deliver))
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                # The thread cannot be broken off, and what it makes need not be made again.
                await asyncio.gather(work, return_exceptions=True)
                raise

    async def _loaded(self) -> Any:
        if self._model is None:
            self._model = await asyncio.get_running_loop().run_in_executor(
                self._thread, load_model, self.name, self._kind, self._arguments
            )
        return self._model

    async def _answer(self, chunk: Sequence[Draw], deliver: Deliver) -> None:
        outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._generate, chunk)
        answers = (
            (draw.request, number, outcome)
            for draw, outcome in zip(chunk, outcomes, strict=True)
            for number in draw.numbers
        )
        await deliver_all(answers, deliver)

    async def likelihoods(self, items: Iterable[Continuations]) -> AsyncGenerator[Scored, None]:
        """Score continuations chunk by chunk.

        Raises
        ------
        ModelError
            Where the model cannot be loaded, or its type tells no likelihoods.
        """
        loop = asyncio.get_running_loop()
        model = await self._loaded()
        walk = iter(items)
        while chunk := list(islice(walk, self._chunk_size)):
            found = await loop.run_in_executor(self._thread, self._score, model, chunk)
            for item, scored in zip(chunk, found, strict=True):
                yield item, scored

    async def aclose(self) -> None:
        """Let go of the model and its memory."""
        self._model = None
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _chunks(self, model: Any, requests: Iterable[Request]) -> Iterator[list[Draw]]:
        """Yield the draws that are generated together."""
        alone = self._apart and not takes_seeds(model)
        chunk: list[Draw] = []
        for draw in self._draws(requests):
            if alone and gen_kwargs(model, draw, seed=self._seed)["do_sample"]:
                yield [draw]
                continue
            chunk.append(draw)
            if len(chunk) == self._chunk_size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def _draws(self, requests: Iterable[Request]) -> Iterator[Draw]:
        for request in requests:
            if request.sampling.temperature == 0:
                # Greedy draws are all the same; one is enough.
                yield Draw(request, request.draws)
            else:
                for number in request.draws:
                    yield Draw(request, (number,))

    def _generate(self, chunk: Sequence[Draw]) -> list[Outcome]:
        from lm_eval.api.instance import Instance

        model = self._model
        outcomes: list[Outcome | None] = [None] * len(chunk)
        asked: list[tuple[int, int | None, bool]] = []
        instances = []
        seeds = [draw_seed(self._seed, draw) for draw in chunk]
        seed = seeds[0] if len(seeds) == 1 else stable_seed(0, *map(str, seeds)) % 2**63
        for place, draw in enumerate(chunk):
            prompt = render_chat(model, draw.request.messages, chat=self._chat, name=self.name)
            settings = gen_kwargs(model, draw, seed=self._seed)
            tokens = count_tokens(model, prompt)
            excess = excess_tokens(model, tokens, settings["max_gen_toks"])
            if excess > 0 and draw.request.sampling.max_tokens is None:
                settings["max_gen_toks"] = max(1, settings["max_gen_toks"] - excess)
                excess = excess_tokens(model, tokens, settings["max_gen_toks"])
            if excess > 0:
                # lm-eval would cut the prompt's beginning off, with a warning in a log.
                detail = f"{tokens} tokens and {settings['max_gen_toks']} to generate are {excess} too many"
                outcomes[place] = Failure("request", "context_too_long", detail)
                continue
            # Prompts of API types are no text yet.
            asked.append((place, tokens, isinstance(prompt, str) and begins_thinking(prompt)))
            instances.append(Instance("generate_until", {}, (prompt, settings), place))
        if instances:
            for (place, tokens, begun), text in zip(asked, self._texts(model, instances, seed), strict=True):
                if isinstance(text, str):
                    answer, reasoning = split_thinking(text, begun=begun)
                    outcomes[place] = Completion(answer, reasoning, tokens, count_tokens(model, text))
                else:
                    outcomes[place] = Failure("request", "no_answer", f"lm-eval returned {text!r}")
        return [outcome for outcome in outcomes if outcome is not None]

    def _score(self, model: Any, chunk: Sequence[Continuations]) -> list[Likelihoods | Failure]:
        prompts = [render_chat(model, item.messages, chat=self._chat, name=self.name) for item in chunk]
        try:
            return score(model, prompts, [item.texts for item in chunk])
        except NotImplementedError as error:
            raise ModelError(f"model {self.name}: its type of lm-eval tells no likelihoods") from error
        # As in `_texts`.
        except Exception as error:
            raise self._failed(error, len(chunk)) from error

    def _failed(self, error: Exception, prompts: int) -> ModelError:
        return ModelError(
            f"model {self.name} failed on {prompts} prompts: {type(error).__name__}: {first_line(error)}",
            hint="answers so far are kept; a smaller batch_size needs less memory",
        )

    def _texts(self, model: Any, instances: Sequence[Any], seed: int) -> Sequence[str | None]:
        if importlib.util.find_spec("torch"):
            import torch

            torch.manual_seed(seed)
        quiet = "disable_tqdm" in inspect.signature(model.generate_until).parameters
        try:
            texts: Sequence[str | None] = model.generate_until(
                list(instances), **({"disable_tqdm": True} if quiet else {})
            )
        # lm-eval's back ends raise whatever their libraries raise: out of memory, HTTP errors, assertions.
        except Exception as error:
            raise self._failed(error, len(instances)) from error
        return texts


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 1
