"""What a decode step of a real small model consists of: every matmul, the attention of every layer, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llmserving import arguments
from llmserving.step_work import Work
from llmserving.tinylm.config import DecoderConfig

BYTES = {"float32": 4, "bfloat16": 2}
# About 110 million weights, as large as GPT-2, and as this library's decoder makes them.
RANDOM_110M = DecoderConfig(
    vocab_size=32_000, width=768, ffn=2048, layers=12, heads=12, kv_heads=12, head_dim=64, context=2048,
    name="random weights",
)  # fmt: skip


@dataclass(frozen=True)
class Matmul:
    """x [batch, inputs] @ weights [outputs, inputs], `count` times a step with weights of their own."""

    name: str
    outputs: int
    inputs: int
    count: int

    @property
    def weights(self) -> int:
        return self.outputs * self.inputs

    def work(self, batch: int, bytes_each: int) -> Work:
        """Of one of them: its weights are read once, however many tokens are multiplied."""
        return Work(2 * batch * self.weights, self.weights * bytes_each)


@dataclass(frozen=True)
class DecodeModel:
    """A decoder's shape and the dtype of its weights and cache."""

    config: DecoderConfig
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.dtype not in BYTES:
            raise ValueError(f"dtype is {' or '.join(BYTES)}, but got {arguments.shown(self.dtype)}")

    @property
    def bytes_each(self) -> int:
        return BYTES[self.dtype]

    @property
    def matmuls(self) -> tuple[Matmul, ...]:
        """Each kind once; the head is one, and the embedding none: of that, a step reads a row a token."""
        c = self.config
        queries, cached = c.heads * c.head_dim, c.kv_heads * c.head_dim
        return (
            Matmul("queries", queries, c.width, c.layers),
            Matmul("keys, values", cached, c.width, 2 * c.layers),
            Matmul("attention output", c.width, queries, c.layers),
            Matmul("gate, up", c.ffn, c.width, 2 * c.layers),
            Matmul("down", c.width, c.ffn, c.layers),
            Matmul("head", c.vocab_size, c.width, 1),
        )

    @property
    def weight_bytes(self) -> int:
        """Of the weights that a step reads."""
        return self.bytes_each * sum(matmul.weights * matmul.count for matmul in self.matmuls)

    def kv_bytes(self, batch: int, context: int) -> int:
        """Of keys and values of all layers."""
        return self.config.layers * int(self.attention_work(batch, context).num_bytes)

    def step_bytes(self, batch: int, context: int) -> int:
        """What a step reads at least."""
        return self.weight_bytes + self.kv_bytes(batch, context)

    def attention_work(self, batch: int, context: int) -> Work:
        """Of one layer: each cached key and value is read once; 2 FLOPs for a score's element and 2 for a value's."""
        c = self.config
        cached = 2 * batch * context * c.kv_heads * c.head_dim * self.bytes_each
        return Work(4 * batch * context * c.heads * c.head_dim, cached)

    def parts(self, batch: int, context: int) -> Iterator[tuple[str, int, Work]]:
        """Name, how often a step has it, and the work of one."""
        for matmul in self.matmuls:
            yield matmul.name, matmul.count, matmul.work(batch, self.bytes_each)
        yield "attention", self.config.layers, self.attention_work(batch, context)
