"""Continuous batching over paged blocks: requests join the batch when there is room and leave it when they are done.

Each turn of the loop admits what fits, then runs one decode step for all that run. Nobody waits for the longest. Where
the blocks run out, the request that came last gives its blocks back and is computed again later, as vLLM does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from llmserving import arguments
from llmserving.tinylm.generation import GenerationRequest, Piece, Sampler, decode, prefill
from llmserving.tinylm.kv_cache import KvCache, checked_cache, checked_request_id
from llmserving.tinylm.tokens import TextStream
from llmserving.tinylm.weights import LanguageModel, checked_model


@dataclass(eq=False)
class Running:
    """A request on its way: `tokens` are its prompt and what was generated, of which the last is not in the cache yet."""

    request_id: Hashable
    tokens: list[int]
    left: int  # tokens that it may still generate
    sampler: Sampler
    text: TextStream = field(repr=False)


class Server:
    """Serves requests side by side with one model and one cache.

    `max_running` is the most requests in a decode step. `steps` records the size of each batch, `preempted` the
    requests that had to give their blocks back.
    """

    def __init__(self, model: LanguageModel, cache: KvCache, max_running: Any = 8) -> None:
        self.model = checked_model(model)
        self.cache = checked_cache(cache, model)
        self.max_running = arguments.count("max_running", "the most requests in a batch", max_running)
        self.waiting: deque[Running] = deque()
        self.running: list[Running] = []
        self.steps: list[int] = []
        self.preempted: list[Hashable] = []

    def submit(self, request_id: Hashable, request: GenerationRequest) -> None:
        """Puts a request in the queue, at any time, also while `run` goes on. ValueError for one that can never fit."""
        checked_request_id(request_id)
        if not isinstance(request, GenerationRequest):
            given = arguments.shown(request)
            raise TypeError(f"request is a GenerationRequest, but got {given}; write GenerationRequest({given})")
        if any(request_id == known.request_id for known in (*self.waiting, *self.running)):
            raise ValueError(f"request {request_id!r} is being served already")
        tokens = request.prompt_tokens(self.model)
        left = request.most_tokens(self.model, len(tokens))
        if len(tokens) + left - 1 > self.cache.most_tokens:
            raise ValueError(
                f"request {request_id!r} may come to hold {len(tokens) + left - 1:,} tokens, but the whole cache has room "
                f"for {self.cache.most_tokens:,} of one request"
            )
        self.waiting.append(Running(request_id, tokens, left, Sampler(request), TextStream(self.model.tokenizer)))

    def run(self) -> Iterator[Piece]:
        """Streams the pieces of all requests as they come, until none waits or runs. Left early, it can be run again."""
        try:
            while self.waiting or self.running:
                yield from self._admit()
                self._make_room()
                batch = list(self.running)
                if batch:
                    self.steps.append(len(batch))
                    last = {one.request_id: one.tokens[-1] for one in batch}
                    for one, scores in zip(batch, decode(self.model, self.cache, last), strict=True):
                        yield from self._take(one, scores)
        finally:
            while self.running:
                self._send_back()

    def _admit(self) -> Iterator[Piece]:
        """First come, first served: the queue's head joins while the batch and the cache have room for it."""
        while self.waiting and len(self.running) < self.max_running:
            one = self.waiting[0]
            if self.running and not self.cache.can_allocate(one.tokens):
                return
            scores = prefill(self.model, self.cache, one.request_id, one.tokens)
            self.running.append(self.waiting.popleft())
            yield from self._take(one, scores)

    def _make_room(self) -> None:
        """A slot for the next token of all that run, which the last to come may pay for."""
        for one in list(self.running):
            while one in self.running and not self.cache.can_append(one.request_id):
                self.preempted.append(self.running[-1].request_id)
                self._send_back()
            if one in self.running:
                self.cache.append(one.request_id, one.tokens[-1])

    def _send_back(self) -> None:
        """The last to come gives up what it has in the cache and waits at the head of the queue."""
        last = self.running.pop()
        self.cache.free(last.request_id)
        self.waiting.appendleft(last)

    def _take(self, one: Running, scores: Tensor) -> Iterator[Piece]:
        """The next token of a request, which leaves when it is done: its blocks are free before the next step."""
        token = one.sampler.pick(scores)
        ended = token == self.model.end
        one.tokens.append(token)
        one.left -= 1
        if ended or not one.left:
            self.running.remove(one)
            self.cache.free(one.request_id)
        if not ended:
            yield Piece(one.request_id, token, one.text.take(token))


def serve(
    model: LanguageModel, requests: Mapping[Any, GenerationRequest], cache: KvCache, max_running: Any = 8
) -> Iterator[Piece]:
    """Streams the pieces of several requests, batched continuously."""
    server = Server(model, cache, max_running)
    if not isinstance(requests, Mapping):
        raise TypeError(f"requests is a mapping from names to requests, but got {arguments.shown(requests)}")
    for request_id, request in requests.items():
        server.submit(request_id, request)
    return server.run()
