"""Timing both phases of one request, pass by pass, on one thread."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import Any

import torch

from llmserving import arguments
from llmserving.bandwidth.decode_operations import TOKENS
from llmserving.bandwidth.machine import this_machine
from llmserving.bandwidth.phases import DECODE_STEPS, PROMPT_TOKENS, Phases, sizes_of
from llmserving.timing.clocks import Clock, HostClock
from llmserving.timing.samples import Samples
from llmserving.timing.threads import torch_threads
from llmserving.timing.turns import samples_of
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.contiguous_cache import ContiguousKvCache
from llmserving.tinylm.generation import decode, prefill
from llmserving.tinylm.model import Decoder

LEAST_QUIET = 3  # undisturbed passes of a phase, without which none of its wall times is believed


def time_phases(
    decoder: Decoder, name: str, *, prompt: Any = PROMPT_TOKENS, steps: Any = DECODE_STEPS, runs: Any = 5,
    clock: Clock | None = None,
) -> Phases:  # fmt: skip
    """`runs` prefills of `prompt` tokens, after one to warm up, and `steps` decode steps after the last."""
    prompt = arguments.count("prompt", "the tokens of the prompt", prompt)
    steps = arguments.count("steps", "the decode steps to time", steps)
    runs = arguments.count("runs", "the prefills to time", runs)
    clock, config = clock or HostClock(), decoder.config
    tokens = [17 * (place + 1) % min(TOKENS, config.vocab_size) for place in range(prompt)]
    passes = _Passes(decoder, config, tokens, steps)
    with torch_threads(torch, 1):
        prefills = samples_of([clock.time(passes.prefill) for _ in range(runs + 1)][1:])
        decodes = samples_of([clock.time(passes.decode) for _ in range(steps)])
    cpu_time = any(_is_busy(samples) for samples in (prefills, decodes))
    sizes, head = sizes_of(name, config, prompt, steps), config.vocab_size * config.width
    # Token t of the prompt looks at t keys, and the head is computed for the last token only.
    seen = prompt * (prompt + 1) // 2
    return Phases(
        sizes=sizes,
        machine=str(this_machine()),
        date=date.today().isoformat(),
        prompt_tokens=prompt,
        prefill_flops=2 * prompt * (sizes.weights - head) + 2 * head + _attention_flops(config, seen),
        decode_flops=2 * sizes.weights + _attention_flops(config, sizes.cached_tokens),
        prefill_seconds=_believable(prefills, cpu_time),
        decode_seconds=_believable(decodes, cpu_time),
        cpu_time=cpu_time,
    )


def _is_busy(samples: Samples) -> bool:
    """Whether others had the core in most passes. Without a clock of the core there is nothing to take instead."""
    return samples.busies is not None and len(samples.quiet) < LEAST_QUIET


def _believable(samples: Samples, cpu_time: bool) -> tuple[float, ...]:
    """The undisturbed passes, or of all of them the time on the core; what cannot be told apart is taken as it is."""
    if cpu_time:
        return samples.busies or samples.walls
    return samples.quiet if len(samples.quiet) >= LEAST_QUIET else samples.walls


def _attention_flops(config: DecoderConfig, pairs: int) -> int:
    """2 FLOPs for an element of a score and 2 for one of a value, of each query and key that meet, in every layer."""
    return 4 * pairs * config.heads * config.head_dim * config.layers


class _Passes:
    """The same request again and again: each prefill starts it anew, each decode step takes in one token more."""

    def __init__(self, decoder: Decoder, config: DecoderConfig, tokens: list[int], steps: int) -> None:
        self.model: Any = SimpleNamespace(decoder=decoder)
        self.tokens = tokens
        self.cache = ContiguousKvCache(config, requests=1, capacity=len(tokens) + steps)

    def prefill(self) -> None:
        if self.cache.requests:
            self.cache.free("request")
        prefill(self.model, self.cache, "request", self.tokens)

    def decode(self) -> None:
        self.cache.append("request", self.tokens[0])
        decode(self.model, self.cache, {"request": self.tokens[0]})
