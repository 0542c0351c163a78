"""vLLM's asynchronous engine: started, asked for texts and for likelihoods, shut down.

All that is known of vLLM's Python interface stands here.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import count
from typing import Any

from hbench.core import JsonValue, ModelError
from hbench.core.errors import first_line
from hbench.model.vllm_options import VllmWords

ENVIRONMENT = {
    # Its log is on standard output, line upon line; nothing is reported to anyone.
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    # A forked engine would inherit the journal's connections and threads.
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}

_PATIENCE = 5.0
"""Seconds that the engine's processes have to end by themselves."""


def need_vllm(name: str) -> None:
    """Refuse where vLLM is not installed, without importing it."""
    if importlib.util.find_spec("vllm") is None:
        raise ModelError(f"model {name} needs vLLM", hint="pip install 'hbench[vllm]'")


def device_arguments() -> dict[str, JsonValue]:
    """Return arguments without which the engine does not hold on this device; takes seconds.

    On processors a prompt that is read in parts brings the engine down where its request has a seed: it sets the random
    numbers back, which they cannot do ("CPU Generator does not use offset", seen with 0.32).
    """
    from vllm.platforms import current_platform

    return {"enable_chunked_prefill": False} if current_platform.is_cpu() else {}


@dataclass(frozen=True, slots=True)
class Generated:
    """One generated text."""

    text: str
    tokens: int


class ChatTemplate:
    """The tokenizer's own chat template with further arguments."""

    def __init__(self, tokenizer: Any, arguments: Mapping[str, JsonValue]) -> None:
        self._tokenizer, self._arguments = tokenizer, dict(arguments)

    def apply_chat_template(self, turns: list[dict[str, str]]) -> str:
        """Render turns up to where the answer begins."""
        rendered: str = self._tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, **self._arguments
        )
        return rendered


class VllmEngine:
    """A running engine.

    Attributes
    ----------
    room : int
        Tokens of prompt and answer together.
    slots : int
        Sequences that are generated at the same time.
    own_settings : mapping
        Generation settings that the model's makers chose.
    """

    def __init__(self, words: VllmWords) -> None:
        """Load the model; takes a minute.

        Raises
        ------
        ModelError
            Where an argument is unknown or vLLM cannot load the model.
        """
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            from vllm.engine.arg_utils import AsyncEngineArgs
            from vllm.v1.engine.async_llm import AsyncLLM
        except ImportError as error:
            raise ModelError(f"model {words.name}: vLLM cannot be imported: {error}") from error

        arguments: dict[str, Any] = {
            "enable_prefix_caching": True,
            "use_tqdm_on_load": False,
            **device_arguments(),
            **words.arguments,
            "model": words.model,
        }
        if words.lora is not None:
            arguments = {"enable_lora": True, "max_lora_rank": words.lora_rank(), **arguments}
        known = {one.name for one in dataclasses.fields(AsyncEngineArgs)}
        for name in arguments:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                meant = f"; did you mean {near[0]!r}?" if near else ""
                raise ModelError(f"model {words.name}: neither hbench nor vLLM has an option {name!r}{meant}")
        try:
            self._engine: Any = AsyncLLM.from_engine_args(AsyncEngineArgs(**arguments))
        # vLLM raises whatever its parts raise: out of memory, absent files, dead processes.
        except Exception as error:
            raise ModelError(
                f"model {words.name} cannot be loaded: {type(error).__name__}: {first_line(error)}",
                hint="VLLM_LOGGING_LEVEL=INFO shows vLLM's own log",
            ) from error
        config = self._engine.vllm_config
        self.room: int = config.model_config.max_model_len
        self.slots: int = config.scheduler_config.max_num_seqs * config.parallel_config.data_parallel_size
        self.own_settings: Mapping[str, Any] = config.model_config.get_diff_sampling_param()
        self.tokenizer: Any = self._engine.get_tokenizer()
        self.template = ChatTemplate(self.tokenizer, words.template)
        self._reasoning = reasoning_parser(words, self.tokenizer)
        self._lora = _lora_request(words)
        self._numbers = count()

    def tokens(self, text: str, *, special: bool) -> list[int]:
        """Return a text's tokens; a rendered chat has its special tokens already."""
        return list(self.tokenizer.encode(text, add_special_tokens=special))

    async def generate(self, tokens: Sequence[int], settings: Mapping[str, Any]) -> list[Generated]:
        """Return as many texts as ``n`` says, from one reading of the prompt."""
        result = await self._result(tokens, settings)
        return [Generated(one.text, len(one.token_ids)) for one in sorted(result.outputs, key=lambda one: one.index)]

    async def log_likelihood(self, prompt: Sequence[int], continuation: Sequence[int]) -> float:
        """Return the natural logarithm of a continuation's probability."""
        tokens = [*prompt, *continuation]
        result = await self._result(tokens, {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0})
        pairs = list(zip(tokens, result.prompt_logprobs, strict=True))[len(prompt) :]
        return sum(float(told[token].logprob) for token, told in pairs)

    def split_reasoning(self, text: str) -> tuple[str, str | None] | None:
        """Split by the chosen parser; None where none was chosen."""
        if self._reasoning is None:
            return None
        reasoning, answer = self._reasoning(text)
        return answer or "", reasoning

    def close(self) -> None:
        """End the engine's processes."""
        self._engine.shutdown(timeout=_PATIENCE)
        # Its own end, if left to the interpreter's, comes when the modules that it needs are gone.
        del self._engine

    async def _result(self, tokens: Sequence[int], settings: Mapping[str, Any]) -> Any:
        from vllm import SamplingParams, TokensPrompt
        from vllm.sampling_params import RequestOutputKind

        results = self._engine.generate(
            TokensPrompt(prompt_token_ids=list(tokens)),
            SamplingParams(**settings, output_kind=RequestOutputKind.FINAL_ONLY),
            str(next(self._numbers)),
            lora_request=self._lora,
        )
        (result,) = [result async for result in results]
        return result


def reasoning_parser(words: VllmWords, tokenizer: Any) -> Any:
    """Return what parts a text into reasoning and answer, None where none was chosen.

    Some parsers ask whether the template was told to think: told nothing, they would take a whole answer for reasoning.

    Raises
    ------
    ModelError
        Where vLLM has no such parser, or it cannot read this model's texts.
    """
    if words.reasoning_parser is None:
        return None
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.reasoning import ReasoningParserManager

    told: dict[str, Any] = {"chat_template_kwargs": dict(words.template)}
    try:
        parser = ReasoningParserManager.get_reasoning_parser(words.reasoning_parser)(tokenizer, **told)
    except KeyError as error:
        raise ModelError(f"model {words.name}: vLLM has no reasoning parser {words.reasoning_parser!r}") from error
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"model {words.name}: the reasoning parser {words.reasoning_parser!r} is not for it: {first_line(error)}"
        ) from error
    request = ChatCompletionRequest(messages=[], model=words.model, **told)
    return lambda text: parser.extract_reasoning(text, request)


def _lora_request(words: VllmWords) -> Any:
    if words.lora is None:
        return None
    from vllm.lora.request import LoRARequest

    return LoRARequest("adapter", 1, str(words.lora))
