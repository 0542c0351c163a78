"""Prompts that are longer than a model's context, told before they are sent to a server that alone can count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hbench.core import Deliver, Failure, Request
from hbench.model.wire import TOO_LONG

CHARACTERS_PER_TOKEN = 4
"""Of English text, about. Only the provider has the model's tokens."""


class ContextLength:
    """Keeps back what does not fit.

    Parameters
    ----------
    tokens : int or None
        Tokens of prompt and answer together, as the user states them. None: all is sent, and the server refuses.
    """

    def __init__(self, tokens: int | None) -> None:
        self.tokens = tokens
        self._kept_back: list[tuple[Request, Failure]] = []

    def fitting(self, requests: Iterable[Request]) -> Iterator[Request]:
        """Yield the requests that fit by estimate, and remember the others."""
        for request in requests:
            failure = self.excess(request)
            if failure is None:
                yield request
            else:
                self._kept_back.append((request, failure))

    async def tell(self, deliver: Deliver) -> None:
        """Deliver the failures of what was kept back."""
        for request, failure in self._kept_back:
            for draw in request.draws:
                await deliver(request, draw, failure)
        self._kept_back.clear()

    def excess(self, request: Request) -> Failure | None:
        """Return why a request does not fit, or None."""
        if self.tokens is None:
            return None
        prompt = -(-sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN)
        answer = request.sampling.max_tokens or 0
        if prompt + answer <= self.tokens:
            return None
        return Failure(
            "request",
            TOO_LONG,
            f"about {prompt:,} tokens of prompt (characters / {CHARACTERS_PER_TOKEN}) and {answer:,} of answer are "
            f"more than context={self.tokens}; not sent",
        )
