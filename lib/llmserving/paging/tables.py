"""Names of requests to what they hold, refusing an unknown, a freed or a taken name in a sentence."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from llmserving import arguments
from llmserving.paging.errors import UnknownRequestError

T = TypeVar("T")


class Tables(dict[Hashable, T]):
    """A dict that remembers which names were freed, so that a second free is told from a name that never was."""

    def __init__(self) -> None:
        super().__init__()
        self._freed: set[Hashable] = set()

    def __getitem__(self, request_id: Hashable) -> T:
        try:
            return super().__getitem__(request_id)
        except TypeError:
            raise TypeError(_no_name(request_id)) from None

    def __missing__(self, request_id: Hashable) -> T:
        if request_id in self._freed:
            raise UnknownRequestError(f"request {request_id!r} was freed already and has no block table any more")
        known = (
            f"the tables are those of {', '.join(map(repr, list(self)[:5]))}" if self else "there is no table at all"
        )
        more = " and more" if len(self) > 5 else ""
        raise UnknownRequestError(f"request {request_id!r} has no block table; {known}{more}")

    def check_new(self, request_id: Hashable) -> None:
        """TypeError or ValueError where no request can be given this name."""
        if checked_name(request_id) in self:
            raise ValueError(f"request {request_id!r} has a block table already; free it first, or append to it")

    def __setitem__(self, request_id: Hashable, table: T) -> None:
        super().__setitem__(request_id, table)
        self._freed.discard(request_id)

    def release(self, request_id: Hashable) -> T:
        """Take the name out; UnknownRequestError where it is not in."""
        table = self[request_id]
        del self[request_id]
        self._freed.add(request_id)
        return table


def checked_name(request_id: Hashable) -> Hashable:
    """A request's name; TypeError where no dict can hold it."""
    try:
        hash(request_id)
    except TypeError:
        raise TypeError(_no_name(request_id)) from None
    return request_id


def _no_name(request_id: object) -> str:
    return f"request_id is a name such as 'a' or 7, but got {arguments.shown(request_id)}, which no dict can hold"


def checked_tokens(token_ids: object) -> int:
    """How many tokens a prompt has; TypeError or ValueError where it is none."""
    no_list = isinstance(token_ids, str | bytes | bytearray | dict)
    if no_list or not hasattr(token_ids, "__len__") or not hasattr(token_ids, "__getitem__"):
        raise TypeError(
            f"token_ids is the list of a prompt's tokens, such as [5, 17, 2], but got {arguments.shown(token_ids)}"
        )
    if not len(token_ids):
        raise ValueError(
            "token_ids is empty: a request has at least one token, since one must be computed for the next"
        )
    return len(token_ids)
