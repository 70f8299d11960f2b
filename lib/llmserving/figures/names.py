"""Names of requests where there is little room: cut so that different names stay different."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from llmserving.figures.shapes import text_width


def short_names(names: Iterable[Hashable], room: float, *, size: float, bold: bool = False) -> dict[Hashable, str]:
    """Each name as a text of at most `room` units. A long one loses its middle: names mostly differ at their ends.

    Where that leaves several alike, what they have in common at both ends goes instead.
    """
    wanted = list(dict.fromkeys(names))
    short = {name: _without_middle(str(name), room, size, bold) for name in wanted}
    alike: dict[str, list[Hashable]] = {}
    for name, text in short.items():
        alike.setdefault(text, []).append(name)
    for group in alike.values():
        texts = [str(name) for name in group]
        if len(set(texts)) > 1:
            first = _alike_at_the_front(texts)
            last = _alike_at_the_front([text[first:][::-1] for text in texts])
            for name, text in zip(group, texts, strict=True):
                end = "…" if last else ""
                short[name] = _without_middle(f"…{text[first : len(text) - last]}{end}", room, size, bold)
    return short


def _alike_at_the_front(texts: Sequence[str]) -> int:
    """How many characters all texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


@lru_cache(maxsize=10_000)  # stepping through a log asks for the same names again and again
def _without_middle(text: str, room: float, size: float, bold: bool) -> str:
    """`text`, or its beginning and its end, of which the end is not the shorter, around an ellipsis."""
    short, kept = text, len(text)
    while kept > 1 and text_width(short, size=size, bold=bold) > room:
        kept -= 1
        short = f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"
    return short
