"""The levers of a server by name, and whether a value is one that a case offers."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from llmserving import arguments

LEVERS: Mapping[str, str] = {
    "policy": "who runs in the next step: 'static', 'continuous' or 'chunked'",
    "max_num_seqs": "how many requests may run at once",
    "token_budget": "the tokens of all requests in a step, where the policy is 'chunked'",
    "watermark": "the share of the KV cache that a new request must leave free",
    "weight_dtype": "'fp16', 'int8' (W8A8: products in INT8 too) or 'int4' (W4A16)",
    "kv_dtype": "'fp16' or 'int8', of the KV cache",
    "gpu": "which GPU",
    "gpus": "how many of them split each layer (tensor parallelism)",
}

Offered = Mapping[str, tuple[Any, ...] | range]
"""Lever -> the values that a case lets one choose. What is not named stays as it is."""


def checked_settings(start: Mapping[str, Any], offered: Offered, changes: Any) -> dict[str, Any]:
    """`start` with the changes made; TypeError or ValueError where one of them is not on offer."""
    if not isinstance(changes, Mapping):
        raise TypeError(
            f"settings are a dict of levers, such as {{'max_num_seqs': 32}}, but got {arguments.shown(changes)}"
        )
    settings = dict(start)
    for lever, value in changes.items():
        if not isinstance(lever, str) or lever not in offered:
            raise ValueError(f"there is no lever {arguments.shown(lever)} to move here; those are {', '.join(offered)}")
        settings[lever] = _offered_value(lever, offered[lever], value)
    return settings


def _offered_value(lever: str, values: tuple[Any, ...] | range, value: Any) -> Any:
    """The value as the case has it: 0.1 for numpy's 0.1, 32 for 32.0."""
    if isinstance(value, str | numbers.Real) and not isinstance(value, bool):
        if isinstance(values, range) and value in values:
            return int(value)  # type: ignore[arg-type]  # a text is in no range
        if isinstance(values, tuple) and value in values:
            return values[values.index(value)]
    if isinstance(values, range):
        choices = f"a whole number from {values.start} to {values.stop - 1}"
    else:
        *most, last = map(repr, values)
        choices = f"{', '.join(most)} or {last}" if most else last
    raise ValueError(f"{lever} is {choices} here, but got {arguments.shown(value)}")
