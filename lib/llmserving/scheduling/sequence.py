"""A request while an engine serves it: how far it is."""

from __future__ import annotations

from typing import Any

from llmserving.scheduling.request import Request
from llmserving.scheduling.shown import ByHandError


class Sequence:
    """Invariant: it decodes from the moment its cache holds `target` tokens, and is given one token for that.

    A scheduler reads it; the methods with an underscore are the engine's.
    """

    def __init__(self, request: Request, place: int = 0) -> None:
        self._request, self._place = request, place
        self._cached = self._produced = 0
        self._target = request.prompt_tokens
        self._done = False

    @property
    def request(self) -> Request:
        """Its id, prompt_tokens, output_tokens and arrival_s."""
        return self._request

    @property
    def place(self) -> int:
        """Its number in the order of arrival."""
        return self._place

    @property
    def cached(self) -> int:
        """Tokens in the cache."""
        return self._cached

    @property
    def produced(self) -> int:
        """Tokens that it was given."""
        return self._produced

    @property
    def target(self) -> int:
        """Tokens that must be in the cache before it decodes: the prompt, and where it was sent back and its cache was
        lost, also what it was given until then.
        """
        return self._target

    @property
    def done(self) -> bool:
        """Of a static batch, that its row goes on for nobody."""
        return self._done

    @property
    def left(self) -> int:
        """Tokens of the prompt that are still to be computed."""
        return max(0, self._target - self._cached)

    @property
    def decodes(self) -> bool:
        """Whether the next step takes in one token of it, the one it was given last."""
        return self._cached >= self._target

    def _take_in(self, tokens: int) -> None:
        """So many tokens more are in the cache."""
        self._cached += tokens

    def _give_token(self) -> bool:
        """It has one token more; whether that was its last."""
        self._produced += 1
        return self._produced == self._request.output_tokens

    def _end(self) -> None:
        self._done = True

    def _start_over(self) -> None:
        """The cache is lost: the prompt and all that it was given are to be computed again."""
        self._cached = 0
        self._target = self._request.prompt_tokens + self._produced

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and hasattr(type(self), name):
            raise ByHandError(f"{name} of request {self._request.id} was set")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return (
            f"Sequence(request {self._request.id}, place={self._place}, cached={self._cached}, "
            f"produced={self._produced}, target={self._target})"
        )
