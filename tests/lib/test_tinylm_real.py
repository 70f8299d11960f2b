"""SmolLM2-135M, a real model: it knows its capitals, agrees with itself, and can be measured. `make bench` times it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.tinylm import (  # noqa: E402
    SMOLLM2,
    ContiguousKvCache,
    GenerationRequest,
    LanguageModel,
    PagedKvCache,
    generate,
    has_smollm2,
    held_out_text,
    load,
    perplexity,
    serve,
)
from llmserving.tinylm.generation import decode, prefill  # noqa: E402

pytestmark = pytest.mark.slow

CLOSE = 1e-3  # of logits up to 35, after 30 layers in float32; measured 8e-5 at most


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    if not has_smollm2():
        skips.skip("no SmolLM2")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load(SMOLLM2)
    torch.set_num_threads(threads)


def said(model: LanguageModel, prompt: str, tokens: int) -> str:
    return "".join(piece.text for piece in generate(model, prompt, tokens))


def test_the_capital_of_france_is_paris(model: LanguageModel) -> None:
    assert said(model, "The capital of France is", 1) == " Paris"


def test_its_size_is_what_is_known_of_it(model: LanguageModel) -> None:
    assert model.parameters == 134_515_008
    assert PagedKvCache(model.config, 1, dtype=torch.float16).bytes_per_token == 23_040
    assert (model.context, model.end, model.tokenizer.decode(model.encode("naïve 2026 \n"))) == (
        8192,
        2,
        "naïve 2026 \n",
    )


def test_digits_are_tokens_of_their_own(model: LanguageModel) -> None:
    assert len(model.encode("123456")) == 6


def test_paged_and_contiguous_agree_to_the_last_bit(model: LanguageModel) -> None:
    tokens = model.encode(held_out_text()[:400])
    paged, contiguous = PagedKvCache(model.config, 12), ContiguousKvCache(model.config, 1, 128)
    prefill(model, paged, "other", tokens[:20])
    paged.allocate("hole", tokens[:40])
    paged.free("other")
    assert torch.equal(prefill(model, paged, "r", tokens[:50]), prefill(model, contiguous, "r", tokens[:50]))
    for token in tokens[50:70]:
        for cache in (paged, contiguous):
            cache.append("r", token)
        assert torch.equal(decode(model, paged, {"r": token}), decode(model, contiguous, {"r": token}))
    whole = model.decoder(torch.tensor([tokens[:71]]), last_only=True)[0, -1]
    paged.append("r", tokens[70])
    assert float((decode(model, paged, {"r": tokens[70]})[0] - whole).abs().max()) < CLOSE


def test_served_together_each_gets_what_it_would_get_alone(model: LanguageModel) -> None:
    prompts = {"a": "The capital of France is", "b": "Once upon a time, there was", "c": "2 + 2 ="}
    together: dict[Any, str] = dict.fromkeys(prompts, "")
    requests = {name: GenerationRequest(prompt, 6) for name, prompt in prompts.items()}
    for piece in serve(model, requests, PagedKvCache(model.config, 20), 2):
        together[piece.request] += piece.text
    assert together == {name: said(model, prompt, 6) for name, prompt in prompts.items()}


def test_its_perplexity_has_an_interval(model: LanguageModel) -> None:
    found = perplexity(model, held_out_text("devil"), window=256)
    assert 40 < found.perplexity < 90
    assert found.low < found.perplexity < found.high
