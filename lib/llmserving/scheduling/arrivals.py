"""When requests arrive, in seconds: a Poisson process, and a burstier one.

The first request comes at 0 s, as in the traces, and the others after random gaps. The same seed gives the same gaps,
and a longer series begins with the shorter one. Random numbers are those of numpy's PCG64, the same on every platform.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from llmserving import arguments


def poisson_arrivals(n: int, rate_per_s: float, seed: int = 0) -> NDArray[np.float64]:
    """`n` arrival times in seconds, rising from 0: users who know nothing of each other.

    The gaps are exponential with mean 1 / rate_per_s, each drawn by inverse transform from one uniform number.
    """
    n, rate, random = _checked(n, rate_per_s, seed)
    return _added_up(-np.log1p(-random.random(n - 1)), rate)


def bursty_arrivals(n: int, rate_per_s: float, burstiness: float, seed: int = 0) -> NDArray[np.float64]:
    """`n` arrival times in seconds, rising from 0, whose gaps follow a gamma distribution of mean 1 / rate_per_s.

    burstiness is its shape, as in `vllm bench serve --burstiness`: 1 is a Poisson process, less is burstier, more is
    nearer to a steady beat. The gaps' coefficient of variation (standard deviation over mean) is burstiness ** -0.5,
    so 0.25 stands for 2. Of the Azure traces of 2023, conversations have 1.09 and code has 13.2.
    """
    n, rate, random = _checked(n, rate_per_s, seed)
    shape = float(arguments.amount("burstiness", "the shape of the gaps' gamma distribution", burstiness))
    return _added_up(random.standard_gamma(shape, n - 1) / shape, rate)


def _checked(n: int, rate_per_s: float, seed: int) -> tuple[int, float, np.random.Generator]:
    n = arguments.count("n", "the number of requests that arrive", n)
    rate = float(arguments.amount("rate_per_s", "the requests that arrive in a second, on average", rate_per_s))
    seed = arguments.count("seed", "the seed of the random numbers", seed, at_least=0)
    return n, rate, np.random.Generator(np.random.PCG64(seed))


def _added_up(gaps: NDArray[np.float64], rate_per_s: float) -> NDArray[np.float64]:
    """Arrivals after gaps that are given in units of the mean gap."""
    with np.errstate(over="ignore"):
        arrivals = np.concatenate([[0.0], np.cumsum(gaps) / rate_per_s])
    if not math.isfinite(arrivals[-1]):
        raise ValueError(
            f"rate_per_s is {rate_per_s:g}, so low that the last request arrives at no time that a float has"
        )
    return arrivals
