"""From conversations to token ids, with labels on the answer alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hbench.core import JsonValue, Message, TrainingError
from hbench.core.errors import first_line
from hbench.model.adapters import merge_system
from hbench.train.number_token_loss import IGNORED

_BATCH = 512


@dataclass(frozen=True, slots=True)
class Encoded:
    """A conversation for the trainer.

    Attributes
    ----------
    input_ids : list of int
        Prompt, answer and end token.
    labels : list of int
        The same from the answer's first token to the end token, and `IGNORED` in the prompt.
    """

    input_ids: list[int]
    labels: list[int]

    @property
    def answer(self) -> list[int]:
        """The ids that are learned."""
        return [label for label in self.labels if label != IGNORED]


class ChatEncoder:
    """Encodes conversations with a model's chat template, as the model will be asked.

    Parameters
    ----------
    tokenizer
        A Hugging Face tokenizer with a chat template.
    arguments : mapping
        Further arguments of the template.
    ends : sequence of int
        Ids that end an answer, besides the tokenizer's own end token.

    Raises
    ------
    TrainingError
        Where the tokenizer has no chat template or no end token.

    Notes
    -----
    The prompt is rendered and encoded alone, with the cue for the answer, and again with the answer. The second text
    must begin with the first: what follows is what the model has to say after exactly this prompt. Where the ids do not
    begin alike, since the prompt's end and the answer's beginning merge into one token, the answer is encoded alone, as
    a model that is asked has to begin it. The answer ends with the first special token behind its text, or with the
    tokenizer's end token where the template writes none; what a template writes after that (a line break) is left out,
    for generation never gets there.
    """

    def __init__(
        self, tokenizer: Any, *, arguments: Mapping[str, JsonValue] | None = None, ends: Iterable[int] = ()
    ) -> None:
        self.name: str = tokenizer.name_or_path or type(tokenizer).__name__
        if not tokenizer.chat_template:
            raise TrainingError(
                f"the tokenizer of {self.name} has no chat template",
                hint="chat_template=FILE gives it one; the evaluation must use the same",
            )
        if tokenizer.eos_token_id is None:
            raise TrainingError(f"the tokenizer of {self.name} has no end token")
        self.tokenizer = tokenizer
        self.ends = frozenset({tokenizer.eos_token_id, *ends})
        self._specials = self.ends | set(tokenizer.all_special_ids)
        self._arguments = dict(arguments or {})

    def prompts(self, conversations: Iterable[Sequence[Message]]) -> Iterator[tuple[str, list[int]]]:
        """Yield the text and the ids that a model is asked with; each conversation is a prompt without its answer."""
        walk = iter(conversations)
        while batch := list(islice(walk, _BATCH)):
            texts = [self._cued(turns)[1] for turns in batch]
            yield from zip(texts, self._ids(texts), strict=True)

    def encode(self, conversations: Iterable[Sequence[Message]]) -> Iterator[Encoded]:
        """Encode conversations whose last turn is the answer to be learned.

        Raises
        ------
        TrainingError
            Where a last turn is not the assistant's, or the template cannot write it, or writes the prompt otherwise
            when the answer follows; `record` is the conversation's place, counted from 0.
        """
        walk = enumerate(conversations)
        while batch := list(islice(walk, _BATCH)):
            prompts, wholes = [], []
            for place, turns in batch:
                if not turns or turns[-1].role != "assistant":
                    raise TrainingError("it does not end with an answer of the assistant", record=str(place))
                try:
                    asked, prompt = self._cued(turns[:-1])
                    wholes.append(self._render([*asked, turns[-1]], cue=False))
                except TrainingError as error:
                    error.record = str(place)
                    raise
                prompts.append(prompt)
            parts = zip(batch, prompts, wholes, self._ids(prompts), self._ids(wholes), strict=True)
            for (place, _), prompt, whole, prompt_ids, ids in parts:
                if not whole.startswith(prompt):
                    raise self._differs(prompt, whole, place)
                answer = ids[len(prompt_ids) :]
                if ids[: len(prompt_ids)] != prompt_ids:
                    answer = self._ids([whole[len(prompt) :]])[0]
                    # Some tokenizers put a blank before every text.
                    if self.tokenizer.decode([*prompt_ids, *answer]) != self.tokenizer.decode(ids):
                        raise self._differs(prompt, whole, place)
                answer = self._ended(answer)
                yield Encoded([*prompt_ids, *answer], [IGNORED] * len(prompt_ids) + answer)

    def _ended(self, ids: list[int]) -> list[int]:
        """Cut what follows the end token."""
        last = len(ids)
        while last and (ids[last - 1] in self._specials or not self.tokenizer.decode([ids[last - 1]]).strip()):
            last -= 1
        for place in range(last, len(ids)):
            if ids[place] in self._specials:
                return ids[: place + 1]
        return [*ids, self.tokenizer.eos_token_id]

    def _cued(self, turns: Sequence[Message]) -> tuple[Sequence[Message], str]:
        """Render a prompt with the cue for its answer, and return the turns that the template could write.

        A template that refuses system turns, or drops them, gets them at the head of the first user turn, as in the
        evaluation (`hbench.model.generation.render_chat`).
        """
        if any(turn.role == "system" for turn in turns):
            merged = merge_system(turns)
            try:
                text = self._render(turns, cue=True)
            except TrainingError:
                return merged, self._render(merged, cue=True)
            if not all(turn.content.strip() in text for turn in turns):
                return merged, self._render(merged, cue=True)
            return turns, text
        return turns, self._render(turns, cue=True)

    def _render(self, turns: Sequence[Message], *, cue: bool) -> str:
        try:
            text: str = self.tokenizer.apply_chat_template(
                [turn._asdict() for turn in turns], tokenize=False, add_generation_prompt=cue, **self._arguments
            )
        # Templates are programs of strangers; whatever they raise means the same.
        except Exception as error:
            raise TrainingError(
                f"the chat template of {self.name} cannot write a conversation: {first_line(error)}"
            ) from error
        return text

    def _ids(self, texts: list[str]) -> list[list[int]]:
        # The template has written all special tokens. Many texts are encoded in parallel.
        ids: list[list[int]] = self.tokenizer(texts, add_special_tokens=False)["input_ids"]
        return ids

    def _differs(self, prompt: str, whole: str, place: int) -> TrainingError:
        shared = next((i for i, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), len(prompt))
        begin = max(0, shared - 20)
        return TrainingError(
            f"the chat template of {self.name} writes the prompt otherwise when its answer follows: "
            f"{prompt[begin : shared + 20]!r} becomes {whole[begin : shared + 20]!r}",
            record=str(place),
            hint="Set what it needs, as in --set 'chat_template_kwargs={enable_thinking: false}', or a chat_template.",
        )
