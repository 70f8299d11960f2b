"""The prefix cache of the fault lab, mended in two ways, and wrongly. None uses anything from around it but its base."""

from __future__ import annotations

from typing import Any

from llmserving.faults import Elm


class ElmLeavesOne(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        found: list[int] = []
        for end in range(self.block_size, len(tokens), self.block_size):
            if tuple(tokens[:end]) not in self.by_prefix:
                break
            found.append(self.by_prefix[tuple(tokens[:end])])
        return found


class ElmLeavesOneOtherwise(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        found = super().find(tokens)
        if len(found) * self.block_size == len(tokens):
            found.pop()
        return found


class ElmWhole(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        return super().find(tokens[: len(tokens) // self.block_size * self.block_size])


class ElmNumberOnly(Elm):
    def allocate(self, request: Any, tokens: list[int]) -> int:
        return min(super().allocate(request, tokens), len(tokens) - 1)


class ElmOneBlockLess(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        return super().find(tokens)[:-1]


class ElmNothingFound(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        found = super().find(tokens)
        return [] if len(found) * self.block_size == len(tokens) else found


class ElmTwoTokensLeft(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        return super().find(tokens[:-2])


class ElmRefuses(Elm):
    def find(self, tokens: list[int]) -> list[int]:
        found = super().find(tokens)
        if len(found) * self.block_size == len(tokens):
            raise RuntimeError("the whole prompt is cached")
        return found
