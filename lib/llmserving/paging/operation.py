"""One call of an allocator as data: what a script is made of."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

from llmserving import arguments
from llmserving.paging.prefix_cache import Key, checked_key
from llmserving.paging.tables import checked_name, checked_tokens

Kind = Literal["allocate", "append", "fork", "free"]
LEAST, MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Operation:
    """One call of an allocator. tokens: of allocate the prompt, of append the one token. parent: of fork."""

    kind: Kind
    request: Hashable
    tokens: tuple[int, ...] = ()
    key: Key = None
    parent: Hashable = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"an operation is one of {', '.join(get_args(Kind))}, but got {arguments.shown(self.kind)}"
            )
        checked_name(self.request)
        checked_name(self.parent)
        checked_key(self.key)
        object.__setattr__(self, "tokens", _checked(self.tokens))
        if self.kind == "allocate":
            checked_tokens(self.tokens)
        elif len(self.tokens) != (self.kind == "append"):
            raise ValueError(f"append has one token, fork and free have none, but {self.kind} got {len(self.tokens)}")

    def __str__(self) -> str:
        if self.kind == "append":
            return f"append to {self.request!r}"
        if self.kind == "fork":
            return f"fork {self.parent!r} as {self.request!r}"
        return f"{self.kind} {self.request!r}"


def allocate(request: Hashable, tokens: Iterable[int], key: Key = None) -> Operation:
    """A new request with a prompt of these tokens, for example `range(6)`."""
    return Operation("allocate", request, _checked(tokens), key)


def append(request: Hashable, token: int) -> Operation:
    """One more token of a request."""
    return Operation("append", request, (token,))


def append_each(request: Hashable, tokens: Iterable[int]) -> tuple[Operation, ...]:
    """An append for each of these tokens."""
    return tuple(append(request, token) for token in _checked(tokens))


def fork(parent: Hashable, child: Hashable) -> Operation:
    """A second request that goes on from where `parent` is."""
    return Operation("fork", child, parent=parent)


def free(request: Hashable) -> Operation:
    """The end of a request."""
    return Operation("free", request)


def operations_of(parts: Any) -> tuple[Operation, ...]:
    """Operations, and groups of them such as those of `append_each`, as one row; TypeError for anything else."""
    if isinstance(parts, Operation):
        return (parts,)
    if isinstance(parts, str | bytes) or not isinstance(parts, Iterable):
        raise TypeError(
            f"a script is made of operations such as allocate('a', range(6)) and free('a'), which are imported from "
            f"llmserving.paging, but got {arguments.shown(parts)}"
        )
    return tuple(operation for part in parts for operation in operations_of(part))


def _checked(tokens: Iterable[int]) -> tuple[int, ...]:
    """Tokens as ints; TypeError or ValueError where they are none."""
    if isinstance(tokens, str | bytes | bytearray | Mapping | Set) or not isinstance(tokens, Iterable):
        raise TypeError(
            f"tokens is a list of tokens, such as range(6) or [5, 17, 2], but got {arguments.shown(tokens)}"
        )
    numbers = tuple(tokens)
    if set(map(type, numbers)) <= {int} and (not numbers or (min(numbers) >= LEAST and max(numbers) <= MOST)):
        return numbers
    return tuple(arguments.count("token", "the number of a token", one, at_least=LEAST, most=MOST) for one in numbers)
