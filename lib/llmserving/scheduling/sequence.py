"""A request while an engine serves it: how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from llmserving.scheduling.request import Request


@dataclass(eq=False)
class Sequence:
    """Invariant: it decodes from the moment its cache holds `target` tokens, and is given one token for that.

    place: its number in the order of arrival. cached: tokens in the cache. target: tokens that must be there before it
    decodes: the prompt, and after a preemption also what it was given until then. produced: tokens that it was given.
    done: of a static batch, that its row goes on for nobody.
    """

    request: Request
    place: int = 0
    cached: int = 0
    produced: int = 0
    target: int = field(init=False)
    done: bool = False

    def __post_init__(self) -> None:
        self.target = self.request.prompt_tokens

    @property
    def left(self) -> int:
        """Tokens of the prompt that are still to be computed."""
        return max(0, self.target - self.cached)

    @property
    def decodes(self) -> bool:
        """Whether the next step takes in one token of it, the one it was given last."""
        return self.cached >= self.target

    def start_over(self) -> None:
        """The cache is lost: the prompt and all that it was given are to be computed again."""
        self.cached = 0
        self.target = self.request.prompt_tokens + self.produced
