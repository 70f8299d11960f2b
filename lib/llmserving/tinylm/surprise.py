"""A perplexity and how sure it is, from the mean surprise in each window. Needs no torch: recorded ones can be compared, too.

Tokens of one window depend on each other, so the interval comes from drawing whole windows anew, not tokens (a bootstrap).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

DRAWS = 2000
COVERED = 0.95  # of the draws lie within the interval


@dataclass(frozen=True)
class Perplexity:
    """`window_nats` is the mean surprise a token in each window; all windows have as many tokens."""

    window_nats: tuple[float, ...] = field(repr=False)
    tokens: int
    seed: int = 0

    @property
    def nats_per_token(self) -> float:
        return math.fsum(self.window_nats) / len(self.window_nats)

    @property
    def perplexity(self) -> float:
        return _exp(self.nats_per_token)

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the perplexity."""
        return self._interval[0]

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval of the perplexity."""
        return self._interval[1]

    @cached_property
    def _interval(self) -> tuple[float, float]:
        return _bootstrap(np.array(self.window_nats), self.seed)

    def ratio_to(self, base: Perplexity) -> tuple[float, float, float]:
        """This perplexity over another's on the same text, with its 95 % interval.

        Window by window, what is hard about the text cancels, so that a ratio is far surer than either perplexity.
        """
        if len(self.window_nats) != len(base.window_nats) or self.tokens != base.tokens:
            raise ValueError(
                f"base must be measured on the same windows, but it has {base.tokens:,} tokens in "
                f"{len(base.window_nats)} windows, and this has {self.tokens:,} in {len(self.window_nats)}"
            )
        differences = np.array(self.window_nats) - np.array(base.window_nats)
        return (_exp(differences.mean()), *_bootstrap(differences, self.seed))

    def __str__(self) -> str:
        return f"{self.perplexity:,.2f} ({self.low:,.2f} to {self.high:,.2f}, {self.tokens:,} tokens)"


def _bootstrap(nats: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> tuple[float, float]:
    """The middle 95 % of exp(mean) when as many windows are drawn anew, with replacement."""
    drawn = np.random.default_rng(seed).integers(len(nats), size=(DRAWS, len(nats)))
    low, high = np.quantile(nats[drawn].mean(axis=1), [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return _exp(low), _exp(high)


def _exp(nats: float) -> float:
    """A model that a scheme has destroyed may be too surprised for a float: then infinity, not an error."""
    with np.errstate(over="ignore"):
        return float(np.exp(nats))
