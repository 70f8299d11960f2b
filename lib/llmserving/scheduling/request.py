"""A request as a scheduler sees it: when it comes, how long its prompt is, and how many tokens it will be given."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from llmserving import arguments

MOST_TOKENS = 10**9  # above any context window, and products of two such counts still fit into 64 bits


@dataclass(frozen=True, slots=True)
class Request:
    """id: a number, or anything else that can name it. arrival_s: seconds since the start of the workload. prompt_tokens,
    output_tokens: at least 1 each. All are kept as Python's own numbers, since sums of numpy's narrow ones overflow.

    prompt_blocks: names of the prompt's blocks in order, where a trace has them; equal names stand for equal content
    after equal prefixes.
    """

    id: int
    arrival_s: float
    prompt_tokens: int
    output_tokens: int
    prompt_blocks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        arrival_s = _seconds(self.arrival_s)
        if not 0 <= arrival_s < math.inf:
            raise ValueError(
                f"arrival_s is the time of arrival in seconds, 0 or later, but got {arguments.shown(self.arrival_s)}"
            )
        try:
            hash(self.id)
        except TypeError:
            raise TypeError(
                f"id names the request, by a number or a text, but got {arguments.shown(self.id)}, which cannot be looked up"
            ) from None
        self._keep("id", self.id.item() if isinstance(self.id, np.generic) else self.id)
        self._keep("arrival_s", arrival_s)
        if isinstance(self.prompt_blocks, str) or not isinstance(self.prompt_blocks, Iterable):
            raise TypeError(
                f"prompt_blocks names the blocks of the prompt in order, but got {arguments.shown(self.prompt_blocks)}"
            )
        self._keep("prompt_blocks", tuple(self.prompt_blocks))
        for name, meaning in (
            ("prompt_tokens", "the number of tokens in the prompt"),
            ("output_tokens", "the number of tokens that the request is given"),
        ):
            self._keep(name, arguments.count(name, meaning, getattr(self, name), most=MOST_TOKENS))

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # frozen for everybody else

    @property
    def tokens(self) -> int:
        """Prompt and output together."""
        return self.prompt_tokens + self.output_tokens

    @property
    def cached_tokens(self) -> int:
        """Tokens in the cache when the request ends: all but the last one, which no step takes in."""
        return self.tokens - 1


def _seconds(value: Any) -> float:
    """A number as a float, NaN where it is none or too large for one."""
    try:
        return float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


class Workload(Sequence[Request]):
    """Requests in the order of their arrival, and where they come from; a slice is a workload too."""

    def __init__(self, requests: Iterable[Request], name: str) -> None:
        self.name = name
        if not isinstance(requests, Iterable):
            raise TypeError(f"requests are a list of Requests, but got {arguments.shown(requests)}")
        self._requests = tuple(requests)
        for request in self._requests:
            if not isinstance(request, Request):
                raise TypeError(f"a workload is made of Requests, but one of them is {arguments.shown(request)}")
        for earlier, later in zip(self._requests, self._requests[1:], strict=False):
            if later.arrival_s < earlier.arrival_s:
                raise ValueError(
                    f"a workload is in the order of arrival, but request {later.id} comes at {later.arrival_s:g} s, "
                    f"before request {earlier.id} at {earlier.arrival_s:g} s"
                )

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[Request]:
        return iter(self._requests)

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> Workload: ...
    def __getitem__(self, index: int | slice) -> Request | Workload:
        if isinstance(index, slice):
            return Workload(self._requests[index], self.name)
        return self._requests[index]

    @property
    def arrivals_s(self) -> NDArray[np.float64]:
        """Seconds since the start, [requests]."""
        return np.array([request.arrival_s for request in self._requests], dtype=np.float64)

    @property
    def prompt_tokens(self) -> NDArray[np.int64]:
        """Tokens of each prompt, [requests]."""
        return np.array([request.prompt_tokens for request in self._requests], dtype=np.int64)

    @property
    def output_tokens(self) -> NDArray[np.int64]:
        """Tokens that each request is given, [requests]."""
        return np.array([request.output_tokens for request in self._requests], dtype=np.int64)

    def at_once(self) -> Workload:
        """The same requests in the same order, all arriving at 0 s: what an offline batch is."""
        return Workload((replace(request, arrival_s=0.0) for request in self._requests), f"{self.name}, all at once")

    def scaled(self, rate_factor: float) -> Workload:
        """The same requests arriving `rate_factor` times as fast: 2 halves every arrival time."""
        factor = arguments.amount("rate_factor", "how many times as fast the requests arrive", rate_factor)
        requests = (replace(request, arrival_s=request.arrival_s / factor) for request in self._requests)
        return Workload(requests, f"{self.name}, {factor:g} times as fast")

    def __repr__(self) -> str:
        return f"{self.name}: {len(self):,} requests"


def checked(workload: Any) -> Workload:
    """`workload` if it is one, or a TypeError."""
    if not isinstance(workload, Workload):
        raise TypeError(
            f"workload is a Workload, such as Workload(requests, 'mine'), but got {arguments.shown(workload)}"
        )
    return workload
