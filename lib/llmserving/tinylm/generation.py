"""One request, token by token: prefill takes the prompt in, then every decode step takes in one token and gives the next."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import torch
from torch import Tensor

from llmserving import arguments
from llmserving.tinylm.contiguous_cache import ContiguousKvCache
from llmserving.tinylm.kv_cache import KvCache, checked_cache, checked_request_id
from llmserving.tinylm.tokens import TextStream
from llmserving.tinylm.weights import LanguageModel, checked_model


class Piece(NamedTuple):
    """One generated token, and the text that it completes: "" while a letter lacks bytes."""

    request: Hashable
    token: int
    text: str


@dataclass(frozen=True)
class GenerationRequest:
    """What is asked of the model. At temperature 0 the likeliest token is taken; above it, a seeded draw."""

    prompt: str | Sequence[int]
    max_tokens: int = 64
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        is_bytes = isinstance(self.prompt, bytes | bytearray | memoryview)
        is_array = getattr(self.prompt, "ndim", 0) == 1 and hasattr(self.prompt, "tolist")
        if is_bytes or not (is_array or isinstance(self.prompt, str | Sequence)):
            advice = "; write text, not bytes" if is_bytes else ""
            raise TypeError(f"prompt is a text or a list of token ids, but got {arguments.shown(self.prompt)}{advice}")
        arguments.count("max_tokens", "the most tokens to generate", self.max_tokens)
        arguments.count("seed", "what makes draws repeatable", self.seed, at_least=0)
        if self.temperature != 0:
            arguments.amount("temperature", "0 for the likeliest token, or how widely to draw", self.temperature)

    def prompt_tokens(self, model: LanguageModel) -> list[int]:
        """The prompt's token ids; ValueError where there are none, or more than the model has context for."""
        tokens: list[Any] = model.encode(self.prompt) if isinstance(self.prompt, str) else _listed(self.prompt)
        if not tokens:
            raise ValueError("prompt is empty: the model needs at least one token to follow")
        last = model.config.vocab_size - 1
        for token in tokens:
            if isinstance(token, bool) or not (isinstance(token, Integral) and 0 <= int(token) <= last):
                raise ValueError(
                    f"prompt has token {arguments.shown(token)}, but tokens are whole numbers from 0 to {last:,}"
                )
        if len(tokens) >= model.context:
            raise ValueError(
                f"prompt has {len(tokens):,} tokens, but {model.name} was trained on {model.context:,} in all, the answer "
                "included; shorten it"
            )
        return [int(token) for token in tokens]

    def most_tokens(self, model: LanguageModel, prompt: int) -> int:
        """How many tokens may follow a prompt of that many: what was asked, within the model's context."""
        return min(self.max_tokens, model.context - prompt)


def _listed(prompt: Any) -> list[Any]:
    """Token ids as Python has them: an array, of numpy or torch, would give back arrays of one."""
    return list(prompt.tolist() if hasattr(prompt, "tolist") else prompt)


class Sampler:
    """Picks the next token. Its draws depend on the seed alone, not on who else is in the batch."""

    def __init__(self, request: GenerationRequest) -> None:
        self.temperature = request.temperature
        self._generator = torch.Generator().manual_seed(request.seed)

    def pick(self, logits: Tensor) -> int:
        """A token id from the scores [vocabulary] of one position."""
        if self.temperature == 0:
            return int(logits.argmax())
        weights = torch.softmax(logits / self.temperature, dim=-1)
        return int(torch.multinomial(weights, 1, generator=self._generator))


@torch.no_grad()
def prefill(model: LanguageModel, cache: KvCache, request_id: Hashable, tokens: Sequence[int]) -> Tensor:
    """Takes a prompt in, but for what the cache has already; the scores [vocabulary] for what follows it."""
    found = cache.allocate(request_id, tokens)
    new = torch.tensor([tokens[found:]])
    return model.decoder(new, cache.step([request_id], new.shape[1]), last_only=True)[0, -1]  # type: ignore[no-any-return]


@torch.no_grad()
def decode(model: LanguageModel, cache: KvCache, last: dict[Hashable, int]) -> Tensor:
    """Takes in the last token of each of B requests, which `append` has given room; scores [B, vocabulary]."""
    new = torch.tensor([[token] for token in last.values()])
    return model.decoder(new, cache.step(list(last)))[:, -1]  # type: ignore[no-any-return]


def generate(
    model: LanguageModel, prompt: str | Sequence[int], max_tokens: int = 64, *, temperature: float = 0.0, seed: int = 0,
    cache: KvCache | None = None, request_id: Any = "request",
) -> Iterator[Piece]:  # fmt: skip
    """Streams what follows a prompt, a Piece a token, to `max_tokens`, the end of the text or of the model's context.

    `cache` is a contiguous one of the right size unless you give one; the request is freed from it at the end.
    """
    request = GenerationRequest(prompt, max_tokens, temperature, seed)
    tokens = request.prompt_tokens(checked_model(model))
    checked_request_id(request_id)
    most = request.most_tokens(model, len(tokens))
    if cache is None:
        cache = ContiguousKvCache(model.config, requests=1, capacity=len(tokens) + most)
    checked_cache(cache, model)
    return _stream(model, request, tokens, most, cache, request_id)


def _stream(
    model: LanguageModel, request: GenerationRequest, tokens: list[int], most: int, cache: KvCache, request_id: Hashable
) -> Iterator[Piece]:
    sampler, text = Sampler(request), TextStream(model.tokenizer)
    scores = prefill(model, cache, request_id, tokens)
    try:
        for produced in range(1, most + 1):
            token = sampler.pick(scores)
            if token == model.end:
                return
            yield Piece(request_id, token, text.take(token))
            if produced < most:  # the last token is not taken in: nothing follows it
                cache.append(request_id, token)
                scores = decode(model, cache, {request_id: token})[0]
    finally:
        cache.free(request_id)
