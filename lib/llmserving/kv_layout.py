"""How an engine lays a model's cache out: pages of tokens, groups of layers that share a block, stages of a pipeline.

A page holds `block_size` tokens of one layer. Layers with and without a window forget at different times, so an engine
puts them in groups that are all of one kind and of one size; a block is a page of each layer of one group, and every
group has a block table of its own. Rules as in vLLM V1 (v1/core/kv_cache_utils.py), and confirmed by data/engine_logs.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from llmserving import arguments
from llmserving.kv_formats import kv_dtype_named, token_bytes
from llmserving.model_spec import ModelSpec
from llmserving.named import model_of
from llmserving.parallelism import checked_parallelism

DEFAULT_BATCHED_TOKENS = 8192


@dataclass(frozen=True)
class KvLayout:
    """The cache of one model on one rank of each stage; kv_layout() makes one from checked arguments."""

    model: ModelSpec
    kv_dtype: str
    tensor_parallel: int
    layers_per_stage: tuple[int, ...]
    block_size: int
    padded_latent: int | None = None

    @property
    def token_bytes(self) -> int:
        """Bytes of one token in one layer."""
        return token_bytes(self.model, self.kv_dtype, self.tensor_parallel, self.padded_latent)

    @property
    def page_bytes(self) -> int:
        """Bytes of one page: a block's tokens in one layer."""
        return self.block_size * self.token_bytes

    @cached_property
    def _layers_of_groups(self) -> tuple[list[list[int]], list[list[int]]]:
        windowed = self.model.windowed
        full = [layer for layer, window in enumerate(windowed) if not window]
        windows = [layer for layer, window in enumerate(windowed) if window]
        size = _layers_a_group([len(kind) for kind in (full, windows) if kind])
        return _dealt_out(full, size), _dealt_out(windows, size)

    @property
    def full_groups(self) -> int:
        """Groups of layers that remember every token."""
        return len(self._layers_of_groups[0])

    @property
    def window_groups(self) -> int:
        """Groups of layers that remember a window."""
        return len(self._layers_of_groups[1])

    @property
    def groups(self) -> int:
        return self.full_groups + self.window_groups

    @property
    def block_bytes_per_stage(self) -> tuple[int, ...]:
        """Bytes of one block on a rank of each stage: a page of each layer that the stage's largest group has there."""
        full, windows = self._layers_of_groups
        sizes, first = [], 0
        for layers in self.layers_per_stage:
            here = range(first, first + layers)
            sizes.append(max(sum(layer in here for layer in group) for group in (*full, *windows)))
            first += layers
        return tuple(self.page_bytes * size for size in sizes)

    @property
    def block_bytes(self) -> int:
        """Bytes of one block on the fullest rank."""
        return max(self.block_bytes_per_stage)

    @property
    def printed_bytes_per_token(self) -> Fraction:
        """Bytes behind one token of the number that engines print: a page in every group, the spare ones included."""
        return Fraction(self.groups * self.block_bytes, self.block_size)

    def request_blocks(self, tokens: Any, max_num_batched_tokens: Any = DEFAULT_BATCHED_TOKENS) -> int:
        """Blocks that a request of `tokens` tokens takes at its fullest, over all groups.

        A group with a window keeps it and the tokens of the step that runs, max_num_batched_tokens at most, and one
        block more, since a window may start within a block. A chunk starts at a block's edge.
        """
        length = arguments.count("tokens", "the number of tokens of the request", tokens)
        step = arguments.count(
            "max_num_batched_tokens", "the number of tokens that one step may run", max_num_batched_tokens
        )
        blocks = self.full_groups * self._blocks(length)
        if self.model.window is None:
            return blocks
        if self.model.window_kind == "chunked":
            return blocks + self.window_groups * self._blocks(min(self.model.window + step, length))
        return blocks + self.window_groups * (self._blocks(min(self.model.window - 1 + step, length)) + 1)

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)


def kv_layout(
    model: ModelSpec | str,
    kv_dtype: str = "fp16",
    tensor_parallel: Any = 1,
    pipeline_parallel: Any = 1,
    block_size: Any = 16,
    padded_latent: Any = None,
) -> KvLayout:
    """The layout for `model`, a ModelSpec or a name. pipeline_parallel: stages, or the layers of each stage.

    block_size: tokens a block. padded_latent: see `token_bytes`. TypeError or ValueError names the argument at fault.
    """
    model = model_of(model)
    stages = layers_per_stage(model, tensor_parallel, pipeline_parallel)
    ranks, _ = checked_parallelism(model, tensor_parallel, len(stages))
    size = arguments.count("block_size", "the number of tokens of a block", block_size)
    layout = KvLayout(model, kv_dtype_named(kv_dtype), ranks, stages, size, padded_latent)
    layout.token_bytes  # noqa: B018  a dtype that the model cannot have is refused here, not at first use
    return layout


def layers_per_stage(model: ModelSpec, tensor_parallel: Any, pipeline_parallel: Any) -> tuple[int, ...]:
    """Layers of each stage of a pipeline, as stated or as even as engines split them.

    The layers left over go to the last stages but one, since the first and the last hold the embeddings too.
    """
    if isinstance(pipeline_parallel, Sequence) and not isinstance(pipeline_parallel, (str, bytes)):
        meaning = "the number of layers of one stage"
        stated = tuple(arguments.count("pipeline_parallel", meaning, layers) for layers in pipeline_parallel)
        if sum(stated) != model.layers:
            raise ValueError(
                f"pipeline_parallel {stated} gives the stages {sum(stated)} layers, but {model.name} has {model.layers}"
            )
        return stated
    _, stages = checked_parallelism(model, tensor_parallel, pipeline_parallel)
    even, left = divmod(model.layers, stages)
    return tuple(even + (stages - 1 - left <= stage < stages - 1) for stage in range(stages))


def _layers_a_group(counts: list[int]) -> int:
    """The least count of a kind of layers, or the largest where that is less than half as much again."""
    return max(counts) if max(counts) < 1.5 * min(counts) else min(counts)


def _dealt_out(layers: list[int], size: int) -> list[list[int]]:
    """Groups of at most `size` layers, dealt like cards so that each stage of a pipeline gets some of each."""
    groups = -(-len(layers) // size)
    return [layers[group::groups] for group in range(groups)]
