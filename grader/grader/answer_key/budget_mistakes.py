"""Mistakes about what lies in a GPU's memory and what is left of it: a bucket forgotten, one request, units."""

from __future__ import annotations

from dataclasses import dataclass

from llmserving.exercises.draws import Numbers
from llmserving.units import GB, GiB

from grader.answer_key.key import Answers, Formula, Misconception
from grader.answer_key.sizes import UNITS

FITS = "Orange and teal together"


def earlier(name: str) -> Formula:
    """The learner's own earlier answer of that name."""
    return lambda n, a: a[name]


@dataclass(frozen=True)
class Buckets:
    """In GB, from earlier answers: the weights, the cache of one request and of all, and all of it together."""

    weights: Formula
    one: Formula
    cache: Formula
    total: Formula

    def weights_and_one(self) -> Formula:
        return lambda n, a: self.weights(n, a) + self.one(n, a)


def total_of(of: Buckets) -> Formula:
    """Weights and cache added up, from earlier answers."""
    return lambda n, a: of.weights(n, a) + of.cache(n, a)


def headroom(n: Numbers, a: Answers) -> float:
    """What the memory has left beside the total of the same exercise."""
    return n["memory_gb"] - a["total_gb"]  # type: ignore[no-any-return]


def wrong(name: str, formula: Formula, sentence: str, reread: str = FITS) -> Misconception:
    return Misconception(name, formula, sentence, reread)


def total_mistakes(of: Buckets) -> tuple[Misconception, ...]:
    """For weights and cache together."""
    return (
        wrong("weights_forgotten", of.cache, "That is the cache alone. The weights lie in the same memory."),
        wrong("cache_forgotten", of.weights, "Those are the weights alone. The cache lies in the same memory."),
        wrong(
            "one_request",
            of.weights_and_one(),
            "That has the cache of one request beside the weights. All of them run at once.",
        ),
    )


def headroom_mistakes(of: Buckets) -> tuple[Misconception, ...]:
    """For what the memory has left beside weights and cache."""

    def left_beside(taken: Formula, memory: float = 1.0) -> Formula:
        return lambda n, a: memory * n["memory_gb"] - taken(n, a)

    def total_times(factor: float) -> Formula:
        return lambda n, a: factor * of.total(n, a)

    return (
        wrong(
            "weights_not_deducted",
            left_beside(of.cache),
            "That subtracts only the cache from the memory. The weights lie in it too.",
        ),
        wrong(
            "cache_not_deducted",
            left_beside(of.weights),
            "That subtracts only the weights from the memory. The cache lies in it too.",
        ),
        wrong(
            "one_request",
            left_beside(of.weights_and_one()),
            "That subtracts the cache of one request. All of them run at once.",
        ),
        wrong(
            "sign_turned",
            lambda n, a: of.total(n, a) - n["memory_gb"],
            "The wrong way round: headroom is the memory minus what is taken.",
        ),
        wrong(
            "engine_s_share",
            left_beside(of.total, 0.9),
            "That starts from the share of the memory that an engine hands out. The formula starts from all of it.",
        ),
        wrong(
            "memory_in_gib",
            left_beside(of.total, GiB / GB),
            "That takes the memory in GiB, units of 2³⁰ bytes, and the buckets in GB.",
            UNITS,
        ),
        wrong(
            "buckets_in_gib",
            left_beside(total_times(GB / GiB)),
            "That subtracts buckets in GiB, units of 2³⁰ bytes, from a memory in GB.",
            UNITS,
        ),
        Misconception(
            "mb_for_gb",
            lambda n, a: 1000 * (n["memory_gb"] - of.total(n, a)),
            "The size is right, counted in MB; the answer is asked for in GB.",
            UNITS,
            in_other_unit=True,
        ),
    )
