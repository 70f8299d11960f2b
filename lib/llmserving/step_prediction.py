"""What is predicted for one step: its two halves under one roof, how long it takes, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from llmserving.step_work import Work
from llmserving.units import format_bytes, format_number, format_rate, format_seconds

Bound = Literal["memory-bound", "compute-bound"]


@dataclass(frozen=True)
class Roof:
    """What one GPU can do at most: FLOP/s in the dtype of the matmuls, and bytes a second from HBM."""

    flops_per_s: float
    bandwidth_bytes_per_s: float

    @property
    def ridge(self) -> float:
        """FLOPs a byte at which neither waits for the other."""
        return self.flops_per_s / self.bandwidth_bytes_per_s

    def memory_seconds(self, work: Work) -> float:
        return work.num_bytes / self.bandwidth_bytes_per_s

    def compute_seconds(self, work: Work) -> float:
        return work.flops / self.flops_per_s

    def seconds(self, work: Work) -> float:
        """The longer of the two, since a GPU reads and computes at the same time."""
        return max(self.memory_seconds(work), self.compute_seconds(work))

    def bound(self, work: Work) -> Bound:
        """What `work` waits for; at the ridge itself it is compute-bound."""
        return "memory-bound" if work.intensity < self.ridge else "compute-bound"


@dataclass(frozen=True)
class StepPrediction:
    """One prefill or decode step on each GPU of a group; times are the best that the GPU's two limits allow.

    batch: requests in the step. tokens_per_request: tokens of a prompt, or tokens cached for a request. tokens:
    all tokens that pass the layers in the step. communication_seconds is 0 where no link was given.
    """

    phase: Literal["prefill", "decode"]
    batch: int
    tokens_per_request: int
    tokens: int
    roof: Roof
    matmul: Work
    attention: Work
    communication_bytes: float
    communication_seconds: float

    @property
    def flops(self) -> float:
        return self.matmul.flops + self.attention.flops

    @property
    def num_bytes(self) -> float:
        return self.matmul.num_bytes + self.attention.num_bytes

    @property
    def intensity(self) -> float:
        """FLOPs for each byte of HBM, of the whole step."""
        return self.flops / self.num_bytes

    @property
    def bound(self) -> Bound:
        """What the step waits for, by its intensity and the ridge point."""
        return self.roof.bound(Work(self.flops, self.num_bytes))

    @property
    def matmul_seconds(self) -> float:
        return self.roof.seconds(self.matmul)

    @property
    def attention_seconds(self) -> float:
        return self.roof.seconds(self.attention)

    @property
    def seconds(self) -> float:
        """Matmuls, then attention, then communication: they take turns, so that neither hides the other's wait."""
        return self.matmul_seconds + self.attention_seconds + self.communication_seconds

    @property
    def tokens_per_s(self) -> float:
        """Tokens of all requests together, for each second of such steps."""
        return self.tokens / self.seconds

    @property
    def memory_wall_tokens_per_s(self) -> float:
        """Tokens a second if arithmetic took no time."""
        return self.tokens / self.roof.memory_seconds(Work(self.flops, self.num_bytes))

    @property
    def compute_wall_tokens_per_s(self) -> float:
        """Tokens a second if bytes took no time."""
        return self.tokens / self.roof.compute_seconds(Work(self.flops, self.num_bytes))

    def explain(self) -> str:
        """The arithmetic line by line."""
        what = "prompt tokens" if self.phase == "prefill" else "cached tokens"
        lines = [
            f"{self.phase} of {self.batch:,} × {self.tokens_per_request:,} {what}, on each GPU",
            _half("matmuls", self.matmul, self.roof),
            _half("attention", self.attention, self.roof),
            f"together: {_flops(self.flops)} / {format_bytes(self.num_bytes)} = {format_number(self.intensity)} FLOP/byte; "
            f"ridge point {_flops(self.roof.flops_per_s)}/s / {format_rate(self.roof.bandwidth_bytes_per_s)} = "
            f"{format_number(self.roof.ridge)} FLOP/byte: {self.bound}",
        ]
        if self.communication_bytes:
            timed = self.communication_seconds
            time = (
                f"= {format_seconds(timed)}" if timed else "sent to the other GPUs (no link given, so no time for it)"
            )
            lines.append(f"communication: {format_bytes(self.communication_bytes)} {time}")
        lines.append(f"step: {format_seconds(self.seconds)}; {format_number(self.tokens_per_s)} tokens/s")
        return "\n".join(lines)


def _half(name: str, work: Work, roof: Roof) -> str:
    return (
        f"{name}: {_flops(work.flops)} take {format_seconds(roof.compute_seconds(work))}, "
        f"{format_bytes(work.num_bytes)} take {format_seconds(roof.memory_seconds(work))}: {roof.bound(work)}"
    )


def _flops(flops: float) -> str:
    return format_bytes(flops).replace("bytes", "FLOP").replace("B", "FLOP")
