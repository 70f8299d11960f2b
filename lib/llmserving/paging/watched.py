"""An allocator under observation: it is asked, called and looked at, and what its code does is told from what it refuses."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.paging.allocator import PagedAllocator
from llmserving.paging.learners_code import LearnersBug, bug, has, is_refusal, pass_stop_on, sentence_of
from llmserving.paging.observation import State
from llmserving.paging.operation import Operation
from llmserving.paging.reading import look, whole_number
from llmserving.paging.slips import about_free, refuse_deferred

CALLED = ("allocate", "append", "fork", "free", "table", "free_blocks", "num_tokens", "can_allocate", "can_append")


class Watched:
    """Any object with the methods of PagedAllocator. Of one that keeps a log, the log is read too."""

    def __init__(self, allocator: Any, num_blocks: int, block_size: int) -> None:
        self._allocator = _made(allocator, num_blocks, block_size)
        if isinstance(self._allocator, PagedAllocator) and self._allocator.log is None:
            self._allocator.log = []
        log = getattr(self._allocator, "log", None)
        self._log: list[Any] = log if isinstance(log, list) else []
        self._read = len(self._log)

    def look(self, live: Iterable[Hashable], gone: Iterable[Hashable] = (), known: State | None = None) -> State:
        """Its tables and free blocks as they are now; `known` is the last look."""
        return look(self._allocator, live, gone, known)

    def can(self, operation: Operation) -> bool | None:
        """What can_allocate or can_append says about an operation, None where there is no such method or no answer yet."""
        name = f"can_{operation.kind}"
        method = getattr(self._allocator, name, None)
        if operation.kind not in ("allocate", "append") or not callable(method):
            return None
        try:
            if operation.kind == "append":
                return bool(method(operation.request))
            return bool(method(list(operation.tokens), **_key(operation)))
        except NotImplementedError:
            return None
        except BaseException as error:
            pass_stop_on(error)
            raise bug(name, error, aside=about_free(error, self._allocator)) from None

    def call(self, operation: Operation, *, refusal_due: bool) -> tuple[str | None, Any]:
        """Carry the operation out: the sentence of its refusal or None, and what it returned."""
        method = getattr(self._allocator, operation.kind, None)
        if not callable(method):
            raise LearnersBug(f"the allocator has no method {operation.kind}")
        try:
            answer = method(*_arguments(operation), **_key(operation))
        except BaseException as error:
            pass_stop_on(error)
            if is_refusal(error, due=refusal_due):
                return sentence_of(error), None
            raise bug(operation.kind, error, aside=about_free(error, self._allocator)) from None
        return None, answer

    def logged(self) -> list[Event]:
        """What only the allocator itself can know, since the last time: which blocks it caches and evicts."""
        new, self._read = self._log[self._read :], len(self._log)
        return [event for event in new if isinstance(event, Event) and event.kind in ("cache", "evict")]


def tokens_found(operation: Operation, answer: Any) -> int:
    """The prompt tokens that allocate says it found in its cache: 0 where it returns no number."""
    return max(whole_number(answer) or 0, 0) if operation.kind == "allocate" else 0


def _made(allocator: Any, num_blocks: int, block_size: int) -> Any:
    refuse_deferred(allocator, CALLED)
    if isinstance(allocator, type) or (callable(allocator) and not has(allocator, "table")):
        try:
            made = allocator(num_blocks, block_size)
        except BaseException as error:
            pass_stop_on(error)
            raise bug(f"{getattr(allocator, '__name__', 'the factory')}({num_blocks}, {block_size})", error) from None
        for name in ("table", "free_blocks"):
            if not has(made, name) and inspect.getattr_static(made, name, None) is None:
                raise LearnersBug(f"the allocator has no {name}")
        return made
    if not has(allocator, "table") or not has(allocator, "free_blocks"):
        raise TypeError(
            f"allocator is a class, a function of (num_blocks, block_size), or an object with the methods of "
            f"PagedAllocator, but got {arguments.shown(allocator)}"
        )
    return allocator


def _arguments(operation: Operation) -> tuple[Any, ...]:
    if operation.kind == "allocate":
        tokens = list(operation.tokens)  # a list of its own, with which the allocator may do what it likes
        return operation.request, tokens
    if operation.kind == "fork":
        return operation.parent, operation.request
    return (operation.request, *operation.tokens)


def _key(operation: Operation) -> dict[str, Any]:
    """Only where it matters, so that an allocator without prefix cache needs no such argument."""
    return {} if operation.key is None else {"key": operation.key}
