"""The command line's words for a model: ``name:argument,key=value,...``."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hbench.core import JsonValue, ModelError, Sampling
from hbench.model.options import SAMPLING_NAMES, read_sampling

_NAME = re.compile(r"[A-Za-z][\w.-]*(?:/[A-Za-z][\w.-]*)?")
_KEY = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*")
_DECODER = json.JSONDecoder()

PLUMBING = frozenset(
    {
        "adaptive", "attempts", "base_url", "batch_discount", "batch_poll", "batch_requests", "batch_size",
        "chunk_size", "concurrency", "context", "device", "key_env", "max_batch_size", "max_body", "max_cost",
        "max_wait", "parallelize", "patience", "price_in", "price_out", "requests_per_minute",
        "start_timeout", "timeout", "tokens_per_minute",
        # Of engines: parallelism and memory.
        "async_scheduling", "block_size", "cpu_offload_gb", "data_parallel_address", "data_parallel_backend",
        "data_parallel_rpc_port", "data_parallel_size", "data_parallel_size_local", "decode_context_parallel_size",
        "disable_custom_all_reduce", "distributed_executor_backend", "download_dir", "enable_chunked_prefill",
        "enable_expert_parallel", "enable_prefix_caching", "enforce_eager", "gpu_memory_utilization",
        "kv_cache_memory_bytes", "load_format", "master_addr", "master_port", "max_lora_rank", "max_num_batched_tokens",
        "max_num_seqs", "max_parallel_loading_workers", "nnodes", "node_rank", "num_gpu_blocks_override",
        "pipeline_parallel_size", "prefill_context_parallel_size", "swap_space", "tensor_parallel_size",
    }
)  # fmt: skip
"""Options that say how answers are fetched or computed, not what they are; labels leave them out."""


LISTS = frozenset({"ensemble"})
"""Models whose argument is a list: it goes on over commas, up to the first option."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the user names it.

    Attributes
    ----------
    name : str
        Registered name, as ``openai`` or ``suite/name``.
    argument : str
        What follows the first colon: a model's name, a path; empty where there is none.
    options : mapping
        The back end's own options.
    sampling : Sampling
        Generation settings that were given.
    label : str
        Name in tables. By default name, argument and the options that change answers, in alphabetical order.
    text : str
        The words themselves.
    """

    name: str
    argument: str = ""
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    label: str = ""
    text: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Read ``name:argument,key=value,...``.

        A value is JSON (``64``, ``true``, ``["a", "b"]``, ``"a, b"``), text in single quotes, or bare text up to the
        next comma. The argument may be quoted likewise; unquoted it ends at the first comma (of `LISTS`, at
        the first option). It may be left out:
        ``marginal:mode=sample``.

        Raises
        ------
        ModelError
            Where the words do not follow the grammar; the message points at the place.
        """
        head = _NAME.match(text.strip())
        if head is None:
            raise _malformed(text, 0, "a model's name is expected", text.strip())
        stripped = text.strip()
        position = head.end()
        argument = ""
        # A model without argument may go straight to its options: `marginal:mode=sample`.
        if stripped[position : position + 1] == ":" and not _KEY.match(stripped, position + 1):
            argument, position = _argument(stripped, position + 1, several=head.group() in LISTS)
        options = _options(stripped, position)
        label = options.pop("label", None)
        if label is not None and (not isinstance(label, str) or not label.strip()):
            raise ModelError(f"model {stripped!r}: the label must be text")
        given = {name: options.pop(name) for name in SAMPLING_NAMES if name in options}
        sampling = read_sampling(given, model=head.group())
        return cls(
            name=head.group(),
            argument=argument,
            options=MappingProxyType(options),
            sampling=sampling,
            label=label or _label(head.group(), argument, {**options, **given}),
            text=stripped,
        )

    @property
    def slug(self) -> str:
        """The label as a harmless file name: no separators, no leading dot, distinct for distinct labels."""
        return file_name(self.label)

    def with_sampling(self, **changes: JsonValue) -> ModelSpec:
        """Return a copy with some generation settings changed."""
        return dataclasses.replace(self, sampling=dataclasses.replace(self.sampling, **changes))


def file_name(label: str) -> str:
    """Turn any label into a file name of at most 80 characters.

    Labels that had to be changed get eight digits of their hash, so that two labels never share a name, not even on
    file systems that ignore case.
    """
    safe = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", label.lower())).strip("-.")
    if safe and safe == label and len(safe) <= 80:
        return safe
    return f"{safe[:71].rstrip('-.') or 'model'}-{hashlib.sha256(label.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _label(name: str, argument: str, options: Mapping[str, JsonValue]) -> str:
    head = f"{name}:{argument}" if argument else name
    told = [f"{key}={_shown(value)}" for key, value in sorted(options.items()) if key not in PLUMBING]
    return ",".join([head, *told])


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def _argument(text: str, position: int, *, several: bool) -> tuple[str, int]:
    if text[position : position + 1] in ("'", '"'):
        value, end = _value(text, position)
        return str(value), end
    end = text.find(",", position)
    while several and end >= 0 and not _KEY.match(text, end + 1):
        end = text.find(",", end + 1)
    end = len(text) if end < 0 else end
    return text[position:end].strip(), end


def _options(text: str, position: int) -> dict[str, JsonValue]:
    options: dict[str, JsonValue] = {}
    while position < len(text):
        if text[position] not in ",:":
            raise _malformed(text, position, "a comma is expected before the next option", text)
        key = _KEY.match(text, position + 1)
        if key is None:
            raise _malformed(text, position + 1, "`key=value` is expected after the comma", text)
        if key.group(1) in options:
            raise _malformed(text, key.start(1), f"the option {key.group(1)!r} is given twice", text)
        options[key.group(1)], position = _value(text, key.end())
    return options


def _value(text: str, position: int) -> tuple[JsonValue, int]:
    opening = text[position : position + 1]
    if opening == "'":
        end = text.find("'", position + 1)
        if end < 0:
            raise _malformed(text, position, "the single quote is never closed", text)
        return text[position + 1 : end], _skip_blanks(text, end + 1)
    if opening and opening in '"[{':
        try:
            value, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _malformed(text, error.pos, f"this is not JSON ({error.msg})", text) from None
        except (ValueError, RecursionError) as error:  # more digits or levels than Python reads
            raise _malformed(text, position, f"this cannot be read ({error})", text) from None
        return value, _skip_blanks(text, end)
    end = text.find(",", position)
    end = len(text) if end < 0 else end
    return _bare(text[position:end].strip()), end


def _bare(word: str) -> JsonValue:
    if word in ("NaN", "Infinity", "-Infinity"):
        return word
    try:
        return json.loads(word)
    except ValueError:  # no JSON, or a number of more digits than Python reads
        return word


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _malformed(text: str, position: int, problem: str, shown: str) -> ModelError:
    return ModelError(
        f"model {shown!r}: {problem}, at character {position + 1}",
        hint="the form is name:argument,key=value,...; quote values that hold commas, as in stop='a,b'",
    )
