"""Cards: what check, hint, another and status show. HTML in JupyterLab, plain text elsewhere, the same words."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

from llmserving.exercises.markup import code_lines, marked, plain
from llmserving.exercises.verdict import Verdict
from llmserving.units import format_number

Tone = Literal["right", "partly", "wrong", "plain"]

VERDICT_MIME = "application/vnd.llmserving.verdicts+json"

# Signs and words say what the edge colour says; the colours hold 3:1 against JupyterLab's light and dark background.
_EDGE = {"right": "#2e8b57", "partly": "#b8860b", "wrong": "#c2543b", "plain": "#5f7f9f"}
_SIGN = {"right": "✓ ", "partly": "◐ ", "wrong": "✗ ", "plain": ""}


@dataclass(frozen=True)
class Card:
    """A heading and paragraphs, in the marks of `markup`; what a learner typed goes in by `as_typed`."""

    heading: str
    tone: Tone
    paragraphs: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()

    def text(self) -> str:
        lines = [
            f"{_SIGN[self.tone]}{plain(self.heading)}",
            *(f"  {plain(paragraph)}" for paragraph in self.paragraphs),
        ]
        widths = (
            [max(len(row[column]) for row in self.table) for column in range(len(self.table[0]))] if self.table else []
        )
        lines += ["  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)) for row in self.table]
        return "\n".join(line.rstrip() for line in lines)

    def html(self) -> str:
        body = "".join(_block(paragraph) for paragraph in self.paragraphs)
        return (
            f'<div role="group" aria-label="{html.escape(plain(self.heading))}" style="border-left:4px solid '
            f"{_EDGE[self.tone]};padding:.4em .9em;margin:.2em 0;max-width:60em;"
            'color:var(--jp-ui-font-color1,#1f2328);background:var(--jp-layout-color1,#fff)">'
            f"<strong>{_SIGN[self.tone]}{marked(self.heading)}</strong>{body}{_table(self.table)}</div>"
        )


class Shown:
    """Something to look at that is not a score: its value is the card alone."""

    def __init__(self, *cards: Card) -> None:
        self.cards = cards

    def __repr__(self) -> str:
        return "\n".join(card.text() for card in self.cards)

    def _repr_html_(self) -> str:
        return "".join(card.html() for card in self.cards)


class Score(float):
    """Points earned: a plain float to Python and to nbgrader (text/plain is the number alone), a card to the reader."""

    cards: tuple[Card, ...]
    verdicts: tuple[Verdict, ...]

    def __new__(cls, points: float, cards: tuple[Card, ...] = (), verdicts: tuple[Verdict, ...] = ()) -> Score:
        score = super().__new__(cls, points)
        score.cards = cards
        score.verdicts = verdicts
        return score

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "text/plain": float.__repr__(self),
            "text/html": "".join(card.html() for card in self.cards),
            VERDICT_MIME: {verdict.exercise: _plain_verdict(verdict) for verdict in self.verdicts},
        }


def points_of(score: float, points: float) -> str:
    return f"{format_number(score)} of {format_number(points)} {'point' if points == 1 else 'points'}"


def _plain_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "score": verdict.score,
        "points": verdict.points,
        "diagnoses": list(verdict.diagnoses),
        "states": {name: part.state for name, part in verdict.parts.items()},
    }


def _block(paragraph: str) -> str:
    code = code_lines(paragraph)
    if code is None:
        return f'<p style="margin:.35em 0 0">{marked(paragraph)}</p>'
    return f'<pre style="margin:.35em 0 0;white-space:pre-wrap">{html.escape(code)}</pre>'


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    if not rows:
        return ""
    head, *body = rows
    cells = "".join(f'<th scope="col" style="text-align:left">{marked(cell)}</th>' for cell in head)
    lines = "".join(
        f'<tr><th scope="row" style="text-align:left">{marked(first)}</th>'
        + "".join(f'<td style="text-align:left">{marked(cell)}</td>' for cell in rest)
        + "</tr>"
        for first, *rest in body
    )
    return f'<table style="margin:.5em 0 0"><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>'
