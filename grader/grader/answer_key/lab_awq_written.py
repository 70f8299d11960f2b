"""AWQ's scales of the inputs, right and wrong, as learners write them. Each function stands for itself: no helper, no import."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# An array has no type that a cell knows without an import.

from __future__ import annotations


def input_scales(inputs, alpha: float):
    powers = abs(inputs).mean(axis=0) ** alpha
    return powers / (powers.max() * powers.min()) ** 0.5


def by_logarithms(inputs, alpha: float) -> list[float]:
    tokens, channels = len(inputs), len(inputs[0])
    means = [sum(abs(float(row[channel])) for row in inputs) / tokens for channel in range(channels)]
    middle = (max(means) * min(means)) ** 0.5
    return [(mean / middle) ** alpha for mean in means]


def over_channels(inputs, alpha: float):
    powers = abs(inputs).mean(axis=1) ** alpha
    return powers / (powers.max() * powers.min()) ** 0.5


def without_sizes(inputs, alpha: float):
    powers = abs(inputs.mean(axis=0)) ** alpha
    return powers / (powers.max() * powers.min()) ** 0.5


def largest(inputs, alpha: float):
    powers = abs(inputs).max(axis=0) ** alpha
    return powers / (powers.max() * powers.min()) ** 0.5


def inverted(inputs, alpha: float):
    powers = abs(inputs).mean(axis=0) ** alpha
    return (powers.max() * powers.min()) ** 0.5 / powers


def not_centred(inputs, alpha: float):
    return abs(inputs).mean(axis=0) ** alpha


def alpha_multiplied(inputs, alpha: float):
    powers = abs(inputs).mean(axis=0) * alpha
    return powers / (powers.max() * powers.min()) ** 0.5
