"""From text to token ids and back, and text from a stream of tokens of which one may be half a letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

UNFINISHED = "\ufffd"  # what a decoder writes for bytes that are no letter, or not yet
LONGEST_LETTER = 4  # bytes of the longest letter in UTF-8


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...

    def decode(self, token_ids: Sequence[int]) -> str: ...


class ByteTokenizer:
    """A token is a byte of UTF-8: 256 tokens, any text, nothing to learn."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8"))

    def decode(self, token_ids: Sequence[int]) -> str:
        return bytes(token_ids).decode("utf-8", errors="replace")


class BpeTokenizer:
    """A tokenizer of the `tokenizers` package: pieces of words, merged from bytes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(token_ids)))


class TextStream:
    """The text of tokens as they come: what is certain by now, and a letter only once all its bytes are there."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pending: list[int] = []

    def take(self, token: int) -> str:
        """The text that this token completes, which may be none."""
        self._pending.append(token)
        text = self._tokenizer.decode(self._pending)
        if text.endswith(UNFINISHED) and len(self._pending) < LONGEST_LETTER:
            return ""
        self._pending.clear()
        return text
