"""What fits beside what in a GPU's memory, and which limit is met first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from llmserving.hardware import Gpu
from llmserving.kv_pool import KvPool
from llmserving.models import ModelSpec
from llmserving.units import GB, GiB

View = Literal["engine", "textbook"]
Limit = Literal["weights", "context", "kv_cache", "max_num_seqs"]
LIMIT_IN_WORDS: dict[Limit, str] = {
    "weights": "what lies beside the KV cache", "context": "the length of one context",
    "kv_cache": "the KV cache", "max_num_seqs": "max_num_seqs",
}  # fmt: skip


@dataclass(frozen=True)
class MemoryPlan:
    """A model in a GPU's memory, with `requests` requests of `context` tokens each. Made by `plan()`.

    All bytes are those of one GPU, the fullest where several share the model. memory_bytes: what the card reports, or in
    the textbook view what it is sold with. kv_bytes_available: what the KV cache may take, negative where not even the
    rest fits. pool: the blocks cut from that, None in the textbook view, which has none.
    """

    model: ModelSpec
    gpu: Gpu
    view: View
    weight_dtype: str
    kv_dtype: str
    context: int
    requests: int
    tensor_parallel: int
    pipeline_parallel: int
    gpu_memory_utilization: float
    max_num_seqs: int
    max_num_batched_tokens: int
    memory_bytes: int
    weight_bytes: int
    activation_bytes: int
    other_bytes: int
    kv_bytes_available: int
    kv_bytes_given: bool
    kv_bytes_per_request: int
    pool: KvPool | None

    @property
    def budget_bytes(self) -> int:
        """What the engine may use in all: memory times utilization, which is 1 in the textbook view."""
        return int(self.memory_bytes * self.gpu_memory_utilization)

    @property
    def block_size(self) -> int | None:
        """Tokens a block; None in the textbook view, which has none."""
        return self.pool.layout.block_size if self.pool else None

    @property
    def reserved_bytes(self) -> int:
        """Blocks of the KV cache that no request can have."""
        return (self.pool.reserved_blocks * self.pool.layout.block_bytes) if self.pool else 0

    @property
    def kv_bytes_needed(self) -> int:
        """KV cache of all the requests."""
        return self.requests * self.kv_bytes_per_request

    @property
    def headroom_bytes(self) -> int:
        """What the KV cache has left beside the requests; what is missing is negative."""
        return self.kv_bytes_available - self.reserved_bytes - self.kv_bytes_needed

    @property
    def kv_blocks(self) -> int | None:
        """Blocks as the engine prints them, the reserved one included."""
        return self.pool.blocks if self.pool else None

    @property
    def kv_tokens(self) -> int:
        """Tokens that the cache holds, as the engine prints them: whole blocks, windows not made use of."""
        if self.pool:
            return self.pool.tokens
        return max(0, self.kv_bytes_available) * self.context // self.kv_bytes_per_request

    @property
    def max_concurrency(self) -> float:
        """Requests of `context` tokens that the cache is worth, as the engine prints it."""
        if self.pool:
            return self.pool.max_concurrency(self.context, self.max_num_batched_tokens)
        return max(0, self.kv_bytes_available) / self.kv_bytes_per_request

    @property
    def requests_in_cache(self) -> int:
        """Whole requests of `context` tokens that the cache holds at once."""
        if self.pool:
            return self.pool.max_requests(self.context, self.max_num_batched_tokens)
        return max(0, self.kv_bytes_available) // self.kv_bytes_per_request

    @property
    def max_requests(self) -> int:
        """Requests that run at once: as many as the cache holds, and as the engine lets run."""
        return min(self.requests_in_cache, self.max_num_seqs) if self.pool else self.requests_in_cache

    @property
    def extra_requests(self) -> int:
        """Requests that could come on top of `requests`; negative where those are too many already."""
        return self.max_requests - self.requests

    @property
    def fits(self) -> bool:
        """Whether all `requests` run at once, each with its whole context cached."""
        return self.requests <= self.max_requests

    @property
    def longest_context(self) -> int | None:
        """The most tokens that one request alone can have; None where its windows let it grow without end."""
        if self.pool is None:
            return self.kv_tokens
        usable = replace(self.pool, blocks=self.pool.usable_blocks, reserved_blocks=0)
        return usable.longest_request(self.max_num_batched_tokens)

    @property
    def limit(self) -> Limit:
        """What is met first as requests are added."""
        if self.kv_bytes_available <= 0:
            return "weights"
        if self.requests_in_cache < 1:
            return "context"
        return "kv_cache" if self.pool is None or self.requests_in_cache <= self.max_num_seqs else "max_num_seqs"

    @property
    def unit(self) -> str:
        """GiB, as engines log, or the course's GB."""
        return "GB" if self.view == "textbook" else "GiB"

    def size(self, num_bytes: int) -> str:
        """Bytes in the unit of the view, to a thousandth."""
        return f"{num_bytes / (GB if self.unit == 'GB' else GiB):,.3f} {self.unit}".replace("-", "−")

    @property
    def title(self) -> str:
        """The model and where it runs."""
        shared = self.tensor_parallel * self.pipeline_parallel
        gpus = self.gpu.name if shared == 1 else f"each of {shared} {self.gpu.name}"
        return f"{self.model.name} on {gpus}"

    @property
    def settings(self) -> str:
        """The dtypes and the view."""
        return f"{self.weight_dtype.upper()} weights, {self.kv_dtype.upper()} KV cache, {self.view} view"

    @property
    def verdict(self) -> str:
        """One sentence: whether it fits, which limit decides, and by how much."""
        from llmserving.plan_lines import verdict

        return verdict(self)

    @property
    def short_verdict(self) -> str:
        """Whether it fits and by how much, for a figure or a table."""
        if self.fits:
            return f"Fits: {self.size(self.headroom_bytes)} left."
        if self.limit == "max_num_seqs":
            return f"Does not fit: max_num_seqs lets {self.max_num_seqs:,} requests run at once."
        return f"Does not fit: {self.size(-self.headroom_bytes)} too much."

    def explain(self) -> str:
        """The arithmetic line by line, with units, and the verdict."""
        from llmserving.plan_lines import plan_lines, written

        return "\n".join([f"{self.title}: {self.settings}", *written(plan_lines(self)), self.verdict])

    def __str__(self) -> str:
        return self.explain()
