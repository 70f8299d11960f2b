"""Which block holds which prefix: full blocks by the hash of everything up to their end.

The hash of a block is made of the hash of the block before it, its own tokens and a key, so equal hashes mean equal
prefixes, and the same tokens after another prefix, or under another adapter or salt, are another entry. SHA-256, as in
vLLM: with a hash that can be made to collide, one user could be served another's cache.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from llmserving import arguments

Key: TypeAlias = "str | int | tuple[Key, ...] | None"
ROOT = b""  # what stands before the first block


def block_hash(parent: bytes, tokens: Iterable[int], key: Key = None) -> bytes:
    """The name of a full block: f(hash of the block before, its tokens, key)."""
    try:
        content = array("q", tokens)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"token_ids are whole numbers, one a token, but one of them is not: {error}") from None
    return hashlib.sha256(parent + content.tobytes() + repr(key).encode()).digest()


def checked_key(key: object) -> Key:
    """`key` if equal keys are written the same way: a text, a whole number, None, or a tuple of those."""
    if key is None or isinstance(key, str | int):
        return key
    if isinstance(key, tuple):
        return tuple(checked_key(part) for part in key)
    raise TypeError(
        f"key is what sets a request's cache apart, such as an adapter's name or a salt, a text or a number or a tuple of "
        f"those, but got {arguments.shown(key)}"
    )


class PrefixCache:
    """Invariant: a block is found by a hash exactly while it is full with the content of that hash.

    Where it is not `enabled`, no block has a hash and nothing is ever found.
    """

    def __init__(self, block_size: int, *, enabled: bool) -> None:
        if not isinstance(enabled, bool):
            raise TypeError(f"prefix_caching is True or False, but got {arguments.shown(enabled)}")
        self.block_size, self.enabled = block_size, enabled
        self._blocks: dict[bytes, dict[int, None]] = {}  # several where equal prompts were computed side by side
        self._hashes: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, block: int) -> bool:
        return block in self._hashes

    def hashes(self, tokens: Sequence[int], key: Key = None) -> Iterator[bytes]:
        """The hashes of all full blocks of `tokens`, from the first on, computed as they are asked for."""
        parent = ROOT
        for start in range(0, (len(tokens) - self.block_size + 1) * self.enabled, self.block_size):
            parent = block_hash(parent, tokens[start : start + self.block_size], key)
            yield parent

    def find(self, hashes: Iterable[bytes]) -> list[int]:
        """The blocks of the longest cached prefix, of several equal ones the first that was cached."""
        found = []
        for name in hashes:
            if name not in self._blocks:
                break
            found.append(next(iter(self._blocks[name])))
        return found

    def insert(self, name: bytes, block: int) -> None:
        """`block` is full and can be found under this hash."""
        self._blocks.setdefault(name, {})[block] = None
        self._hashes[block] = name

    def forget(self, block: int) -> bool:
        """`block` is about to be written again; whether it could be found until now."""
        if block not in self._hashes:
            return False
        name = self._hashes.pop(block)
        del self._blocks[name][block]
        if not self._blocks[name]:
            del self._blocks[name]
        return True
