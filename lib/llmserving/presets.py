"""A table of named, frozen things that also answers to other spellings and names the nearest ones when it cannot."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import TypeVar

from llmserving import arguments

Item = TypeVar("Item")


class UnknownNameError(KeyError, ValueError):
    """A name that no row has. Its text is the sentence itself, not the quoted form that KeyError prints."""

    def __str__(self) -> str:
        return str(self.args[0])


class Presets(Mapping[str, Item]):
    """Items by name; iterating gives the names, a look-up also takes the aliases, in any case, with or without owner.

    An alias of "llama-3.1-8b" such as "Llama-3.1-8B-Instruct" is found as "meta-llama/llama-3.1-8b-instruct" too.
    """

    def __init__(self, what: str, items: Mapping[str, Item], aliases: Mapping[str, Item]) -> None:
        self._what = what
        self._items = dict(items)
        self._spellings: dict[str, Item] = {}
        self._shown: dict[str, str] = {}
        for name, item in [*items.items(), *aliases.items()]:
            spelling = _spelling(name)
            if self._spellings.get(spelling, item) != item:
                raise ValueError(f"{what} {name!r} is spelled like {self._shown[spelling]!r}, but is not the same")
            self._spellings[spelling] = item
            self._shown.setdefault(spelling, name)

    def __getitem__(self, name: str) -> Item:
        if not isinstance(name, str):
            raise TypeError(
                f"a {self._what} is named by text such as {next(iter(self))!r}, but got {arguments.shown(name)}"
            )
        if _spelling(name) not in self._spellings:
            raise UnknownNameError(self._unknown(name))
        return self._spellings[_spelling(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _spelling(name) in self._spellings

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(_spelling(name), self._spellings, n=3, cutoff=0.0)
        shown = ", ".join(repr(self._shown[spelling]) for spelling in near)
        return (
            f"there is no {self._what} {arguments.shown(name)}; the nearest are {shown}, and the list has {len(self)}"
        )


def _spelling(name: str) -> str:
    return name.casefold().rsplit("/")[-1]
