"""Fill one memory with requests twice: reserved in one piece, and in blocks; see what each way leaves empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmserving import arguments
from llmserving.explorers.choices import POWERS_OF_TWO, Choice, checked_names
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures.slot_use import slot_use
from llmserving.paging import ContiguousAllocator, Filled, PagedAllocator, fill

MOST_SLOTS = 2**15  # each slot with a token is written down when the memory is filled


def _count(label: str, stops: tuple[int, ...], name: str, meaning: str) -> Choice:
    most = MOST_SLOTS
    return Choice(label, stops, lambda value: arguments.count(name, meaning, value, most=most), "{:,}".format)


TOKENS = (20, 50, 100, 200, 300, 500, 750, 1000, 1500, 2000)
CHOICES: Mapping[str, Choice] = {
    "tokens": _count("Tokens used a request", TOKENS, "tokens", "the tokens that a request has in the cache"),
    "max_len": _count("Reserved a request", POWERS_OF_TWO[8:13], "max_len", "the slots reserved for a request"),
    "block_size": _count("block_size", POWERS_OF_TWO[:10], "block_size", "the number of tokens in a block"),
    "slots": _count("Slots of the memory", POWERS_OF_TWO[12:15], "slots", "the number of tokens that the memory holds"),
}


class ReservationExplorer(LiveExplorer):
    """The same memory twice; `.filled` is what each way makes of it."""

    filled: dict[str, Filled]

    def look(self, value: dict[str, Any]) -> View:
        slots, tokens, block_size = value["slots"], value["tokens"], value["block_size"]
        reserved = fill(ContiguousAllocator(slots, value["max_len"]), tokens)
        paged = fill(PagedAllocator(slots // block_size, block_size), tokens)
        self.filled = {
            f"Reserved, {value['max_len']:,} slots each": reserved,
            f"In blocks of {block_size:,}": paged,
        }
        sentence = (
            f"Reserved in one piece the memory holds {reserved.requests:,} requests of {tokens:,} tokens, in blocks "
            f"{paged.requests:,}."
        )
        return View(slot_use(self.filled), sentence, ())


def reservation_explorer(
    *,
    tokens: Any = 200,
    max_len: Any = 1024,
    block_size: Any = 32,
    slots: Any = 8192,
    controls: Iterable[str] = ("tokens", "max_len", "block_size"),
) -> ReservationExplorer:
    """An explorer of `ContiguousAllocator` beside `PagedAllocator` that starts at these numbers."""
    shown = checked_names(controls, CHOICES)
    start = {"tokens": tokens, "max_len": max_len, "block_size": block_size, "slots": slots}
    widgets = {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}
    return ReservationExplorer(widgets, shown)
