"""Rows of time, one a request: a box for each span in which it waited, computed its prompt, decoded, or was preempted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from llmserving import arguments
from llmserving.events import Event
from llmserving.figures.base import LessonFigure
from llmserving.figures.legend import Outline, Sample
from llmserving.figures.over_time import BELOW, MARGIN, RIGHT, TIME, count_panel, seconds, time_axis
from llmserving.figures.palette import DECODE, OTHER, PREFILL, Fill
from llmserving.figures.shapes import draw_box, draw_line, draw_outline, shortened, text_width, write
from llmserving.replay import RequestSpans, Span, request_spans
from llmserving.replay.log import checked_log, checked_upto
from llmserving.replay.spans import PHASES
from llmserving.units import format_number

ROW, NAME_SIZE, LONGEST_NAME, MOST_ROWS = 18.0, 11.5, 90.0, 60
# Each phase has a height of its own, too: (sample, height in a row).
LOOKS: dict[str, tuple[Sample, float]] = {
    "waiting": (Outline(), 6.0),
    "prefill": (PREFILL, 13.0),
    "decode": (DECODE, 9.0),
    "preempted": (Outline(dashed=True), 13.0),
    "kept": (OTHER, 5.0),  # of a place in a batch whose request is done
}
LEGEND: tuple[tuple[str, Sample], ...] = tuple((name, LOOKS[name][0]) for name in PHASES)


class GanttRows:
    """At most `most` requests in the order of arrival, from number `first` on, after the first `upto` events.

    Rows and time axis are those of the whole log, so that a figure that is stepped through does not jump. kept: until when
    the place of a request that is done was held. end_s: to where the time axis reaches at least.
    """

    def __init__(
        self,
        events: Iterable[Event],
        first: Any = 0,
        most: Any = 20,
        upto: Any = None,
        *,
        kept: Mapping[Hashable, float] | None = None,
        end_s: float = 0.0,
    ) -> None:
        rows = arguments.count("most", "the number of requests to draw", most, most=MOST_ROWS)
        log = checked_log(events)
        count = checked_upto(upto, len(log))
        everyone = request_spans(log)
        if not everyone:
            raise ValueError("events has no request that arrives, so there is no row to draw")
        first = arguments.count(
            "first", "the number of the first request to draw", first, at_least=0, most=len(everyone) - 1
        )
        drawn = everyone[first : first + rows]
        so_far = {one.request: one for one in request_spans(log[:count])}
        self._rows = [so_far.get(one.request) for one in drawn]
        self._full = [str(one.request) for one in drawn]
        self._names = [shortened(name, LONGEST_NAME, size=NAME_SIZE) for name in self._full]
        self._kept = kept or {}
        self._is_whole = count == len(log)
        self.which = _which(first, len(drawn), len(everyone))
        left = MARGIN + 10 + max(text_width(name, size=NAME_SIZE) for name in [*self._names, "request"])
        self.x = time_axis(min(one.arrival_s for one in drawn), max(end_s, *(one.end_s for one in drawn)), left, RIGHT)
        self.rows_height = ROW * len(drawn)
        self.height = self.rows_height + BELOW

    def words(self) -> str:
        return " ".join(map(self._row_words, self._full, self._rows))

    def draw(self, figure: LessonFigure, top: float) -> None:
        """The rows from y = `top` down, and the time axis under them."""
        left, bottom = self.x.start, top + self.rows_height
        panel = count_panel(self.x, 1, top, self.rows_height)
        for tick in panel.x_ticks:
            draw_line(figure, [self.x.at(tick)] * 2, [top, bottom], width=0.3)
        for number, (name, row) in enumerate(zip(self._names, self._rows, strict=True)):
            middle = top + (number + 0.5) * ROW
            write(figure, left - 8 - text_width(name, size=NAME_SIZE), middle, name, size=NAME_SIZE)
            for span in row.spans if row else ():
                _draw_span(figure, span.phase, self.x.at(span.start_s), self.x.at(span.end_s), middle)
            if row and row.request in self._kept:
                _draw_span(figure, "kept", self.x.at(row.end_s), self.x.at(self._kept[row.request]), middle)
            if row and row.outcome == "rejected":
                write(figure, self.x.at(row.arrival_s) + 3, middle, "× rejected", size=NAME_SIZE)
        draw_outline(figure, left, top, RIGHT - left, self.rows_height, line_width=0.6)
        panel.draw_x_ticks(figure, TIME)

    def _row_words(self, name: str, row: RequestSpans | None) -> str:
        if row is None:
            return f"{name}: not here yet."
        if row.outcome == "rejected":
            return f"{name}: rejected at {seconds(row.arrival_s)} s."
        unfinished = "not finished in this log" if self._is_whole else "not finished yet"
        end = f"finished at {seconds(row.end_s)} s" if row.outcome == "finished" else unfinished
        kept = f", its place kept until {seconds(self._kept[row.request])} s" if row.request in self._kept else ""
        return f"{name}: arrives at {seconds(row.arrival_s)} s, {_phases(row.spans)}{end}{kept}."


def _draw_span(figure: LessonFigure, look: str, start: float, end: float, middle: float) -> None:
    sample, height = LOOKS[look]
    if isinstance(sample, Fill):
        draw_box(figure, start, middle - height / 2, end - start, height, sample)
    elif isinstance(sample, Outline):
        draw_outline(figure, start, middle - height / 2, end - start, height, dashed=sample.dashed)


def _which(first: int, drawn: int, everyone: int) -> str:
    if drawn == everyone:
        return f"All {everyone:,} requests in the order of arrival" if everyone > 1 else "The one request"
    whose = f"The first {drawn:,}" if not first else f"Numbers {first + 1:,} to {first + drawn:,}"
    return f"{whose} of {everyone:,} requests in the order of arrival"


def _phases(spans: Sequence[Span]) -> str:
    return "".join(f"{span.phase} {format_number(span.seconds)} s, " for span in spans)
