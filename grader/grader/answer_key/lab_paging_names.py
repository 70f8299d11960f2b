"""Key of the chained prefix hash: names in two right forms, and the wrong ones that find what is another's."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_paging_names
from llmserving.exercises.exercise import Probe
from llmserving.exercises.lab_paging_names import asked

from grader.answer_key.key import Key
from grader.answer_key.lab_keys import FunctionKey, Wrong

_CHAIN, _FULL, _KEY = "A name for a prefix", "Only what is full", "What else decides"


def block_names(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        own, before = [], None
        for start in range(0, len(tokens) - block_size + 1, block_size):
            what = (before, tuple(tokens[start : start + block_size]), key)
            before = names.setdefault(what, len(names))
            own.append(before)
        found.append(own)
    return found


def by_whole_prefix(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    seen: list = []  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        prefixes = [[key, *tokens[:end]] for end in range(block_size, len(tokens) + 1, block_size)]
        seen += [prefix for prefix in prefixes if prefix not in seen]
        found.append([seen.index(prefix) for prefix in prefixes])
    return found


def of_the_block_alone(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        starts = range(0, len(tokens) - block_size + 1, block_size)
        whats = [(tuple(tokens[start : start + block_size]), key) for start in starts]
        found.append([names.setdefault(what, len(names)) for what in whats])
    return found


def of_the_place(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        starts = range(0, len(tokens) - block_size + 1, block_size)
        whats = [(start, tuple(tokens[start : start + block_size]), key) for start in starts]
        found.append([names.setdefault(what, len(names)) for what in whats])
    return found


def of_the_block_before(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        starts = range(0, len(tokens) - block_size + 1, block_size)
        whats = [(tuple(tokens[max(0, start - block_size) : start + block_size]), key) for start in starts]
        found.append([names.setdefault(what, len(names)) for what in whats])
    return found


def key_forgotten(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, _ in prompts:
        ends = range(block_size, len(tokens) + 1, block_size)
        found.append([names.setdefault(tuple(tokens[:end]), len(names)) for end in ends])
    return found


def partial_named(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        starts = range(0, len(tokens), block_size)
        whats = [(tuple(tokens[: start + block_size]), key) for start in starts]
        found.append([names.setdefault(what, len(names)) for what in whats])
    return found


def last_full_left_out(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    names: dict = {}  # type: ignore[type-arg]
    found = []
    for tokens, key in prompts:
        ends = range(block_size, len(tokens), block_size)
        found.append([names.setdefault((tuple(tokens[:end]), key), len(names)) for end in ends])
    return found


def afresh_for_each(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    return [list(range(len(tokens) // block_size)) for tokens, _ in prompts]


def never_found_again(prompts: list, block_size: int) -> list:  # type: ignore[type-arg]
    given, found = 0, []
    for tokens, _ in prompts:
        count = len(tokens) // block_size
        found.append(list(range(given, given + count)))
        given += count
    return found


_WRONG = (
    Wrong(
        "block_alone",
        of_the_block_alone,
        "Blocks of equal tokens get one name, whatever stands before them. Their keys and values differ with the beginning, so "
        "a request would read another's.",
        _CHAIN,
    ),
    Wrong(
        "place_for_prefix",
        of_the_place,
        "The place in the prompt stands for what comes before. Two prompts can have equal tokens at one place after different "
        "beginnings.",
        _CHAIN,
    ),
    Wrong(
        "one_block_back",
        of_the_block_before,
        "The name looks one block back and no further. Prompts that differ only before that get one name.",
        _CHAIN,
    ),
    Wrong(
        "key_forgotten",
        key_forgotten,
        "The key is left out, so one adapter, or one user's salt, finds what was computed under another.",
        _KEY,
    ),
    Wrong(
        "partial_block_named",
        partial_named,
        "A last block that is not full has a name too. It will be written again, and what it holds then is no longer what the "
        "name says.",
        _FULL,
    ),
    Wrong(
        "last_full_block_left_out",
        last_full_left_out,
        "A prompt that ends just where a block does loses the name of that block. It is full, and later prompts may go on from "
        "it.",
        _FULL,
    ),
    Wrong(
        "numbered_afresh",
        afresh_for_each,
        "Each prompt is numbered from 0 again, so different content has one name. One dict serves all prompts.",
        _CHAIN,
    ),
    Wrong(
        "never_found_again",
        never_found_again,
        "Every block gets a new name, so nothing that is equal is ever found again.",
        _CHAIN,
    ),
)


def _hidden(rng: random.Random) -> Iterator[Probe]:
    """Drawn prompts that share a beginning, or only what follows it, or all but the key."""
    size = rng.randrange(2, 5)

    def block() -> list[int]:
        return [rng.randrange(100) for _ in range(size)]

    a, b, c, d = block(), block(), block(), block()
    yield Probe(
        "full blocks", asked(size, (a + b + c[:1], None), (a + b + c[:-1], None), (a + b + d, None), (a[:1], None))
    )
    yield Probe("prefix", asked(size, (a + b + c, None), (d + b + c, None), (a + b + d, None), (b + c, None)))
    yield Probe("key", asked(size, (a + b, "left"), (a + b, "right"), (a + b, None), (a + c, "right")))


KEYS_HERE = (
    Key(
        lab_paging_names.LAB3A_4,
        {
            "names": FunctionKey(
                reference=block_names,
                otherwise=by_whole_prefix,
                groups={"full blocks": 1, "prefix": 1, "key": 1},
                hidden=_hidden,
                misconceptions=_WRONG,
                reread=_CHAIN,
            )
        },
    ),
)
