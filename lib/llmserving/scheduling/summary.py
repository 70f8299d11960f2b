"""What a simulation comes to: how fast it served, how long each request waited, and what the memory was used for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.scheduling.memory import KvMemory
from llmserving.scheduling.request import Workload
from llmserving.scheduling.served import Served, Spread, served_requests, spread
from llmserving.scheduling.step_clock import StepClock
from llmserving.scheduling.tally import Tally
from llmserving.units import format_number, format_seconds


@dataclass(frozen=True)
class Summary:
    """Of a whole simulation. Shares are from 0 to 1; times are those of the simulated clock."""

    workload: str
    served: tuple[Served, ...]
    rejected: int
    duration_s: float
    tally: Tally
    memory: KvMemory
    peak_flops: float
    peak_bytes_per_s: float

    @property
    def output_tokens(self) -> int:
        """Tokens given to all requests together."""
        return sum(one.request.output_tokens for one in self.served)

    @property
    def throughput_tokens_per_s(self) -> float:
        """Output tokens a second."""
        return self.output_tokens / self.duration_s if self.duration_s else 0.0

    @property
    def throughput_requests_per_s(self) -> float:
        return len(self.served) / self.duration_s if self.duration_s else 0.0

    def goodput_requests_per_s(self, time_to_first_token_s: Any, time_per_output_token_s: Any) -> float:
        """Requests a second that kept both promises (a service level objective); one that was given a single token, the
        first alone."""
        first = arguments.amount("time_to_first_token_s", "the longest wait for a first token", time_to_first_token_s)
        each = arguments.amount("time_per_output_token_s", "the longest mean time a token", time_per_output_token_s)
        kept = [
            one for one in self.served
            if one.time_to_first_token_s <= first and (one.time_per_output_token_s or 0.0) <= each
        ]  # fmt: skip
        return len(kept) / self.duration_s if self.duration_s else 0.0

    @property
    def time_to_first_token(self) -> Spread | None:
        """None where no request was served."""
        return spread(one.time_to_first_token_s for one in self.served)

    @property
    def time_per_output_token(self) -> Spread | None:
        """Over the requests that were given two tokens or more; None where there are none."""
        return spread(one.time_per_output_token_s for one in self.served)

    @property
    def preemptions(self) -> int:
        return sum(one.preemptions for one in self.served)

    @property
    def steps(self) -> int:
        return self.tally.steps

    @property
    def padding_share(self) -> float:
        """Of all tokens that passed the layers, those computed for nobody."""
        return self.tally.padding_tokens / self.tally.computed_tokens if self.tally.computed_tokens else 0.0

    @property
    def busy_share(self) -> float:
        """Of the duration, when a step ran."""
        return self.tally.busy_s / self.duration_s if self.duration_s else 0.0

    @property
    def compute_utilisation(self) -> float:
        """FLOPs done over those that the duration allowed, padding included."""
        return self.tally.flops / (self.peak_flops * self.duration_s) if self.duration_s else 0.0

    @property
    def bandwidth_utilisation(self) -> float:
        """Bytes read and written over those that the duration allowed."""
        return self.tally.num_bytes / (self.peak_bytes_per_s * self.duration_s) if self.duration_s else 0.0

    @property
    def mean_batch(self) -> float:
        """Requests in a step, weighted by its time."""
        return self.tally.sequence_seconds / self.tally.busy_s if self.tally.busy_s else 0.0

    @property
    def kv_held_share(self) -> float:
        """Of all blocks, those that requests held while steps ran."""
        return self._blocks(self.memory.num_blocks)

    @property
    def kv_used_share(self) -> float:
        """Of the slots that requests held, those with a token in them."""
        held = self.tally.block_seconds * self.memory.block_size
        return self.tally.token_seconds / held if held else 0.0

    @property
    def kv_waste_share(self) -> float:
        """Of the slots that requests held, those reserved or left over at the end of a block."""
        return 1 - self.kv_used_share

    def _blocks(self, num_blocks: int) -> float:
        return self.tally.block_seconds / (num_blocks * self.tally.busy_s) if self.tally.busy_s else 0.0

    def explain(self) -> str:
        """All of it in a few lines."""
        lines = [
            f"{self.workload}: {len(self.served):,} requests served, {self.rejected:,} rejected, in "
            f"{format_seconds(self.duration_s)} and {self.steps:,} steps",
            f"throughput: {format_number(self.throughput_tokens_per_s)} output tokens/s, "
            f"{format_number(self.throughput_requests_per_s)} requests/s; mean batch {format_number(self.mean_batch)}",
            f"time to first token: {self.time_to_first_token or 'nobody was given one'}",
            f"time per output token: {self.time_per_output_token or 'nobody was given two'}",
            f"GPU: busy {_percent(self.busy_share)}, arithmetic {_percent(self.compute_utilisation)}, "
            f"bandwidth {_percent(self.bandwidth_utilisation)}; padding {_percent(self.padding_share)} of all tokens",
            f"KV cache: {_percent(self.kv_held_share)} of {self.memory.num_blocks:,} blocks held, "
            f"{_percent(self.kv_used_share)} of that used; preemptions: {self.preemptions:,}, "
            f"with {self.tally.recomputed_tokens:,} tokens computed again and {self.tally.swapped_tokens:,} swapped",
        ]
        return "\n".join(lines)


def summarize(workload: Workload, events: Sequence[Event], tally: Tally, memory: KvMemory, clock: StepClock) -> Summary:
    """The summary of a simulation whose clock has stopped."""
    served = tuple(served_requests(workload, events))
    rejected = sum(event.kind == "reject" for event in events)
    duration = max(one.finish_s for one in served) - workload[0].arrival_s if served else 0.0
    peaks = clock.roof.flops_per_s, clock.roof.bandwidth_bytes_per_s
    return Summary(workload.name, served, rejected, duration, tally, memory, *peaks)


def _percent(share: float) -> str:
    return f"{format_number(100 * share)} %"
