"""Text as it appears, token by token, and when each token came."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal

from llmserving.tinylm.missing import OWN, need
from llmserving.units import format_seconds

TEMPERATURE = 0.6  # at 0 a model this small soon says the same again and again


@dataclass(frozen=True)
class Said:
    """What a model wrote after a prompt. arrived: seconds from sending the prompt to each token."""

    prompt: str
    text: str
    arrived: tuple[float, ...]
    origin: Literal["live", "recorded"] = "live"

    def __post_init__(self) -> None:
        if len(self.arrived) < 2:
            raise ValueError(f"a clock of two phases needs two tokens at least, but {len(self.arrived)} came")

    @property
    def time_to_first_token(self) -> float:
        return self.arrived[0]

    @property
    def time_per_token(self) -> float:
        """The median gap between one token and the next."""
        return median(later - earlier for earlier, later in pairwise(self.arrived))

    def told_clock(self) -> str:
        origin = "measured live" if self.origin == "live" else "recorded"
        return (
            f"time to first token:   {format_seconds(self.time_to_first_token)}\n"
            f"time per output token: {format_seconds(self.time_per_token)} (median of {len(self.arrived) - 1} gaps), {origin}"
        )


def say(
    prompt: str,
    max_tokens: int = 120,
    name: str = OWN,
    *,
    tell: Callable[[str], Any] = lambda text: print(text, end="", flush=True),
    now: Callable[[], float] = time.perf_counter,
) -> Said:
    """Generates on one thread, tells each piece of text as soon as it is there, and keeps the clock. ModelMissing."""
    torch = need("torch")
    from llmserving.timing.threads import torch_threads
    from llmserving.tinylm import generate, load

    model, pieces, arrived = load(name), [], []
    with torch_threads(torch, 1):
        for _ in generate(model, prompt, 2):  # what is loaded at the first pass is not what is to be timed
            pass
        tell(prompt)
        sent = now()
        for piece in generate(model, prompt, max_tokens, temperature=TEMPERATURE):
            arrived.append(now() - sent)
            pieces.append(piece.text)
            tell(piece.text)
    tell("\n")
    return Said(prompt, "".join(pieces), tuple(arrived))
