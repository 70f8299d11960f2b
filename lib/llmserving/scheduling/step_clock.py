"""How long an engine step takes that decodes for some requests and computes pieces of prompts for others.

The same work and roof as `predict_decode` and `predict_prefill`, which are the steps of one kind alone; matmuls take all
tokens of the step together, attention takes turns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmserving import arguments
from llmserving.hardware import Gpu
from llmserving.kv_cache import kv_bytes_per_token
from llmserving.models import ModelSpec
from llmserving.named import model_of
from llmserving.parallelism import checked_parallelism
from llmserving.roofline import roof_of
from llmserving.step_work import (
    Work,
    all_reduce_bytes,
    attended_pairs,
    attended_tokens,
    decode_work,
    matmul_work,
    prefill_work,
)

PCIE_BYTES_PER_S = 25e9  # a PCIe 4.0 x16 slot moves 31.5 GB/s at most, of which about 25 are seen in copies


class StepCost(NamedTuple):
    """What a step takes on each GPU."""

    seconds: float
    flops: float
    num_bytes: float


class StepClock:
    """Seconds, FLOPs and bytes of steps of `model` on `gpu`. Settings are those of `predict_decode`.

    swap_bytes_per_s: what a GPU moves to and from the host's memory.
    """

    def __init__(
        self,
        model: ModelSpec | str,
        gpu: Gpu | str,
        *,
        weight_dtype: str = "fp16",
        kv_dtype: str = "fp16",
        compute_dtype: str | None = None,
        tensor_parallel: Any = 1,
        link_bytes_per_s: Any = None,
        compute_share: Any = 1,
        bandwidth_share: Any = 1,
        swap_bytes_per_s: Any = PCIE_BYTES_PER_S,
    ) -> None:
        self.model = model_of(model)
        self.ranks, _ = checked_parallelism(self.model, tensor_parallel, 1)
        self.weight_dtype, self.kv_dtype = weight_dtype, kv_dtype
        self.roof = roof_of(gpu, compute_dtype, compute_share, bandwidth_share)
        self._link = link_bytes_per_s
        if link_bytes_per_s is not None:
            self._link = arguments.amount(
                "link_bytes_per_s", "the bytes a second that a GPU sends to others", link_bytes_per_s
            )
        self._host = arguments.amount(
            "swap_bytes_per_s", "the bytes a second to and from the host's memory", swap_bytes_per_s
        )
        self._token_bytes = kv_bytes_per_token(self.model, kv_dtype, tensor_parallel=self.ranks)
        self._decode = decode_work(self.model, 1, kv_dtype, self.ranks)
        self._pair = prefill_work(self.model, 1, 0, kv_dtype, self.ranks)
        self._moved = prefill_work(self.model, 0, 1, kv_dtype, self.ranks)
        self._matmuls: dict[int, StepCost] = {}

    @property
    def looks_at_all(self) -> bool:
        """Whether every layer attends to every cached token: then what tokens attend to is a sum over contexts."""
        return self.model.window is None

    def attended(self, context: int) -> int:
        """What the last of `context` tokens attends to, over all layers."""
        return self.model.layers * context if self.looks_at_all else attended_tokens(self.model, context)

    def pairs(self, start: int, end: int) -> int:
        """What the prompt tokens from `start` up to `end` attend to, over all layers."""
        return attended_pairs(self.model, end) - (attended_pairs(self.model, start) if start else 0)

    def cost(self, tokens: int, attended: int, pairs: int = 0, moved: int = 0) -> StepCost:
        """A step with `tokens` tokens in all; those that decode attend to `attended`, those of prompts to `pairs`.

        moved: the prompts' tokens that are written to the cache and those that their attention reads.
        """
        matmul = self._matmuls.get(tokens)
        if matmul is None:
            matmul = self._matmuls[tokens] = self._matmul(tokens)
        decode = Work(attended * self._decode.flops, attended * self._decode.num_bytes)
        seconds = matmul.seconds + self.roof.seconds(decode)
        flops, num_bytes = matmul.flops + decode.flops, matmul.num_bytes + decode.num_bytes
        if pairs:
            prefill = Work(pairs * self._pair.flops, moved * self._moved.num_bytes)
            seconds += self.roof.seconds(prefill)
            flops, num_bytes = flops + prefill.flops, num_bytes + prefill.num_bytes
        return StepCost(seconds, flops, num_bytes)

    def swap_seconds(self, tokens: int) -> float:
        """To move the cache of so many tokens to the host's memory or back."""
        return tokens * self._token_bytes / self._host

    def _matmul(self, tokens: int) -> StepCost:
        work = matmul_work(self.model, tokens, self.weight_dtype, self.ranks)
        sent = all_reduce_bytes(self.model, tokens, self.ranks)
        return StepCost(
            self.roof.seconds(work) + (sent / self._link if self._link else 0.0), work.flops, work.num_bytes
        )
