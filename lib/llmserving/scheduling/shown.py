"""What a scheduler reads and cannot change: the queues, the requests in them, the clock. Only its moves change those."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeVar, overload

T = TypeVar("T")


class ByHandError(Exception):
    """Something was changed past the moves; nothing came of it."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}; a scheduler changes who waits, who runs and how far they are by engine.admit, prefill, decode and "
            "preempt alone"
        )


class Shown(Sequence[T]):
    """A list or a deque as it is at any moment, to read: its methods that would change it raise ByHandError."""

    def __init__(self, name: str, items: list[T] | deque[T]) -> None:
        self._name, self._items = name, items

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        return list(self._items)[index] if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __reversed__(self) -> Iterator[T]:
        return reversed(self._items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | tuple | deque | Shown) and list(self._items) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[T]) -> list[T]:
        return [*self._items, *other]

    def copy(self) -> list[T]:
        """A list of one's own."""
        return list(self._items)

    def __repr__(self) -> str:
        return repr(list(self._items))

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and (hasattr(list, name) or hasattr(deque, name)):
            raise ByHandError(f"{self._name}.{name} was called")
        raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")

    def __setitem__(self, *_: Any) -> NoReturn:
        raise ByHandError(f"an item of {self._name} was set")

    def __delitem__(self, _: Any) -> NoReturn:
        raise ByHandError(f"an item of {self._name} was deleted")

    def __iadd__(self, _: Any) -> NoReturn:  # type: ignore[misc]
        raise ByHandError(f"something was added to {self._name}")
