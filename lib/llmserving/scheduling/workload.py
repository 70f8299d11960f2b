"""Workloads for those who have no trace: lengths drawn so that they have a real trace's quantiles and mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llmserving import arguments
from llmserving.scheduling.arrivals import bursty_arrivals, poisson_arrivals
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.workload_statistics import PROBABILITIES, PUBLISHED, LengthStatistics

ARRIVALS = ("poisson", "bursty", "at once")
BURSTINESS = 0.25  # gaps whose standard deviation is twice their mean


def synthetic_workload(
    requests: int,
    rate_per_s: float | None = None,
    kind: str = "conversation",
    seed: int = 0,
    arrivals: str = "poisson",
    burstiness: float | None = None,
) -> Workload:
    """`requests` requests whose lengths are like those of the Azure trace of that kind, "conversation" or "code".

    rate_per_s: requests a second, the trace's own if None. arrivals: "poisson", "bursty" (see `bursty_arrivals`, with
    `burstiness` 0.25 if None) or "at once", all at 0 s. The same seed gives the same workload; its lengths do not
    depend on how the requests arrive, and a longer workload begins with the shorter one.

    Prompt and output are drawn by themselves, while in the traces they hang together a little (correlation -0.11 in
    conversations, 0.00 in code), and nothing is known between the quantiles: below the median, the conversation trace has
    fewer very short prompts. What hangs on these differs, such as the used share of memory reserved for 2048 tokens
    (38.8 % of the synthetic conversations', 53.4 % of the trace's); means, tails and block tails agree.
    """
    n = arguments.count("requests", "the number of requests", requests)
    seed = arguments.count("seed", "the seed of the random numbers", seed, at_least=0)
    published = PUBLISHED[kind]
    rate = published.rate_per_s if rate_per_s is None else rate_per_s
    if arrivals not in ARRIVALS:
        raise ValueError(f"arrivals is one of {', '.join(map(repr, ARRIVALS))}, but got {arguments.shown(arrivals)}")
    if arrivals == "at once" and rate_per_s is not None:
        raise ValueError("rate_per_s has no meaning where all requests arrive at once; leave it out")
    if arrivals != "bursty" and burstiness is not None:
        raise ValueError(f"burstiness shapes arrivals that are 'bursty', but they are {arrivals!r}; leave it out")
    if arrivals == "poisson":
        arrivals_s = poisson_arrivals(n, rate, seed)
    elif arrivals == "bursty":
        arrivals_s = bursty_arrivals(n, rate, BURSTINESS if burstiness is None else burstiness, seed)
    else:
        arrivals_s = np.zeros(n)
    prompts, outputs = (
        drawn_lengths(lengths, np.random.Generator(np.random.PCG64(child)).random(n))
        for lengths, child in zip(
            (published.prompt, published.output), np.random.SeedSequence(seed).spawn(2), strict=True
        )
    )
    columns = zip(arrivals_s.tolist(), prompts.tolist(), outputs.tolist(), strict=True)
    return Workload((Request(id, *row) for id, row in enumerate(columns)), f"synthetic {published.name}")


def drawn_lengths(lengths: LengthStatistics, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole tokens for numbers in [0, 1), by inverse transform: 0.5 gives the median, 0.9 the p90.

    A number that lies the part x of the way from one known quantile to the next gives low + (high - low) * x ** k.
    The mean of x ** k is 1 / (k + 1), so the distribution's mean is the sum of weight * (low + (high - low) / (k + 1))
    over the intervals, and one k for all of them makes it the given mean. Only rounding to whole tokens moves it:
    by less than 0.1 % here.

    Straight lines (k = 1) would have the quantiles too, but miss the mean by 24 % and 16 % for prompts and by -7 % and
    42 % for outputs of conversations and code; lines on a logarithmic scale make a quarter of all prompts far too short.
    """
    known, probabilities = np.array(lengths.quantiles, dtype=np.float64), np.array(PROBABILITIES)
    low, rise, weight = known[:-1], np.diff(known), np.diff(probabilities)
    mean_of_power = (lengths.mean - weight @ low) / (weight @ rise)
    interval = np.searchsorted(probabilities, uniform, side="right") - 1
    part = (uniform - probabilities[interval]) / weight[interval]
    tokens: NDArray[np.float64] = low[interval] + rise[interval] * part ** (1 / mean_of_power - 1)
    return np.floor(tokens + 0.5).astype(np.int64)
