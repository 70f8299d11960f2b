"""Both phases of one request as they were timed: what a pass read and computed, and how long it took. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from statistics import median
from typing import Any, Literal

from llmserving.bandwidth.decode_work import DecodeModel
from llmserving.bandwidth.results import Origin
from llmserving.step_work import Work
from llmserving.tinylm.config import DecoderConfig
from llmserving.units import format_seconds

PROMPT_TOKENS, DECODE_STEPS = 128, 20


@dataclass(frozen=True)
class TimedStep:
    """One forward pass: its work, and the seconds that it took."""

    phase: Literal["prefill", "decode"]
    work: Work
    seconds: float

    @property
    def flops_per_s(self) -> float:
        return self.work.flops / self.seconds


@dataclass(frozen=True)
class ModelSizes:
    """What the bytes of a decode pass are worked out from. weights: those that a pass reads.

    cached_tokens: what is cached in the middle of the decode passes that are timed.
    """

    model: str
    weights: int
    bytes_a_weight: int
    kv_bytes_a_token: int
    cached_tokens: int

    @property
    def weight_bytes(self) -> int:
        return self.weights * self.bytes_a_weight

    @property
    def fields(self) -> dict[str, int]:
        """The sizes by the names that a recording has."""
        return {name: value for name, value in asdict(self).items() if name != "model"}

    def __str__(self) -> str:
        """In parts: nothing is multiplied or added up."""
        return (
            f"{self.model}: a pass reads {self.weights:,} weights of {self.bytes_a_weight} bytes each;\n"
            f"{self.cached_tokens} tokens are cached, {self.kv_bytes_a_token:,} bytes each"
        )


def sizes_of(name: str, config: DecoderConfig, prompt: int = PROMPT_TOKENS, steps: int = DECODE_STEPS) -> ModelSizes:
    """Of a decoder in float32 whose decode is timed for `steps` steps after `prompt` tokens."""
    model = DecodeModel(config)
    weights = model.weight_bytes // model.bytes_each
    return ModelSizes(name, weights, model.bytes_each, model.kv_bytes(1, 1), prompt + (steps + 1) // 2)


@dataclass(frozen=True)
class Phases:
    """One model on one machine.

    prefill_flops, decode_flops: of one pass. The seconds are those of one pass each, run after run and step after step.
    cpu_time: too few passes were undisturbed, so that the seconds are those on the core and not those on the wall.
    """

    sizes: ModelSizes
    machine: str
    date: str
    prompt_tokens: int
    prefill_flops: int
    decode_flops: int
    prefill_seconds: tuple[float, ...]
    decode_seconds: tuple[float, ...]
    cpu_time: bool = False
    origin: Origin = "live"

    @property
    def times(self) -> dict[str, Any]:
        """What was timed, by the names that a recording has."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "prefill_seconds": list(self.prefill_seconds),
            "decode_seconds": list(self.decode_seconds),
        }

    @property
    def prefill(self) -> TimedStep:
        """All weights are read once, and the keys and values of the prompt are written."""
        moved = self.sizes.weight_bytes + self.prompt_tokens * self.sizes.kv_bytes_a_token
        return TimedStep("prefill", Work(self.prefill_flops, moved), median(self.prefill_seconds))

    @property
    def decode(self) -> TimedStep:
        moved = self.sizes.weight_bytes + self.sizes.cached_tokens * self.sizes.kv_bytes_a_token
        return TimedStep("decode", Work(self.decode_flops, moved), median(self.decode_seconds))

    @property
    def told_origin(self) -> str:
        return f"measured live, {self.date}" if self.origin == "live" else f"recorded {self.date} on {self.machine}"

    def told_times(self) -> str:
        """The two phases' clocks, as they are read: nothing is divided."""
        return (
            f"prefill, one pass of {self.prompt_tokens} tokens: {format_seconds(self.prefill.seconds)} "
            f"(median of {len(self.prefill_seconds)})\n"
            f"decode, one pass of 1 token:     {format_seconds(self.decode.seconds)} "
            f"(median of {len(self.decode_seconds)})\n{self.told_origin}"
            + ("; the machine was busy, so these are times on the core" if self.cpu_time else "")
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, times to the microsecond; read back, they are recorded."""
        plain = asdict(self)
        del plain["origin"]
        for name in ("prefill_seconds", "decode_seconds"):
            plain[name] = [round(seconds, 6) for seconds in plain[name]]
        return plain


def phases_of(plain: Mapping[str, Any]) -> Phases:
    """Back from `as_dict`. ValueError where it is something else."""
    known = {field.name for field in fields(Phases)} - {"origin"}
    if set(plain) != known:
        raise ValueError(f"phases have the fields {', '.join(sorted(known))}, but got {', '.join(sorted(plain))}")
    times = {name: tuple(plain[name]) for name in ("prefill_seconds", "decode_seconds")}
    return Phases(**{**plain, **times, "sizes": ModelSizes(**plain["sizes"]), "origin": "recorded"})
