"""How long SmolLM2-135M takes on one thread, and the bytes that a decode step reads: `python tests/benchmarks/bench_tinylm.py`.

A decode step reads every weight and all keys and values of the request once. Those bytes over its time are the bandwidth that
it implies, to be held against what `python -m llmserving bandwidth` measures. A prefill is bound by its arithmetic instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from llmserving.tinylm import SMOLLM2, LanguageModel, PagedKvCache, has_smollm2, held_out_text, load
from llmserving.tinylm.generation import decode, prefill
from llmserving.units import GB

TOKENS, STEPS = 2000, 20
MISSING = "SmolLM2-135M is not measured: it is not installed; `make model` brings it."


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@torch.no_grad()
def forward_line(model: LanguageModel) -> str:
    """A forward of 2,000 tokens, with the last token's scores as a prefill needs them, and with all."""
    tokens = torch.tensor([(model.encode(held_out_text()) * 2)[:TOKENS]])
    last = seconds(lambda: model.decoder(tokens, last_only=True))
    every = seconds(lambda: model.decoder(tokens))
    flops = 2 * sum(matrix.weight.numel() for _, matrix in model.decoder.matrices()) * tokens.numel()
    return (
        f"forward of {tokens.numel():,} tokens: {last:.1f} s with the last token's scores ({flops / last / 1e9:.0f} GFLOP/s in "
        f"the layers' matrices), {every:.1f} s with all scores"
    )


def decode_line(model: LanguageModel) -> str:
    """Decode steps of one request, in the bytes that they read."""
    cache = PagedKvCache(model.config, 40)
    tokens = model.encode("The capital of France is")
    token = int(prefill(model, cache, "r", tokens).argmax())
    took = []
    for _ in range(STEPS):
        cache.append("r", token)
        took.append(seconds(lambda: decode(model, cache, {"r": token})))
    weights = sum(weight.nbytes for weight in model.decoder.parameters())
    read = weights + cache.num_tokens("r") * cache.bytes_per_token
    best, worst = min(took), max(took)
    return (
        f"decode step: {read / GB:.3f} GB read in {best * 1e3:.0f} to {worst * 1e3:.0f} ms, which implies "
        f"{read / worst / GB:.1f} to {read / best / GB:.1f} GB/s"
    )


def main() -> None:
    if not has_smollm2():
        print(MISSING)
        return
    torch.set_num_threads(1)
    model = load(SMOLLM2)
    print("SmolLM2-135M in float32 on one thread")
    print(forward_line(model))
    print(decode_line(model))


if __name__ == "__main__":
    main()
