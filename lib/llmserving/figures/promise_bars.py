"""One row for each way to run a server: its two times at p95 against what was promised, its cost, and what it misses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matplotlib.patches import Polygon

from llmserving.clinic.outcome import BUDGET, EACH_TOKEN, FIRST_TOKEN, Outcome
from llmserving.figures.axis import LogAxis
from llmserving.figures.base import LessonFigure
from llmserving.figures.palette import DECODE, INK, PREFILL, Fill
from llmserving.figures.shapes import TITLE_HEIGHT, TITLE_SIZE, checked_title, draw_box, draw_line, shortened, write
from llmserving.units import format_number, format_seconds

WIDTH, MARGIN, NAME_ROOM = 720.0, 10.0, 172.0
BARS = ((190.0, 316.0), (424.0, 550.0))  # where the bars of the two times begin and end
COST, MISSED = 648.0, "missed"
ROW, BAR, HEAD, SIZE = 26.0, 12.0, 44.0, 11.5
SPAN = 30.0  # a bar is drawn from a thirtieth of what was promised to thirty times as much


def promise_bars(outcomes: Mapping[str, Outcome], *, title: str | None = None) -> LessonFigure:
    """Draw named outcomes of one case, as `serve` gives them. What misses its promise is hatched and says so.

    The bars are on a logarithmic scale, with a line at what was promised. ValueError where the cases differ.
    """
    title = checked_title(title, WIDTH - 2 * MARGIN)
    promised = _one_case(outcomes).case.promises
    top = HEAD + (TITLE_HEIGHT if title else 0)
    bottom = top + ROW * len(outcomes)
    figure = LessonFigure(WIDTH, bottom + 8, _alt_text(outcomes, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    write(figure, MARGIN, top - 32, "simulated, p95", size=SIZE)
    write(figure, MARGIN, top - 14, "bars: logarithmic", size=SIZE)
    panels: tuple[tuple[str, float, Callable[[Outcome], float]], ...] = (
        (FIRST_TOKEN, promised.first_token_s, lambda outcome: outcome.first_token_s),
        (EACH_TOKEN, promised.each_token_s, lambda outcome: outcome.each_token_s),
    )
    for (start, end), (name, limit, seconds) in zip(BARS, panels, strict=True):
        axis = LogAxis(limit / SPAN, limit * SPAN, start, end)
        write(figure, start, top - 32, name.capitalize(), bold=True, size=SIZE)
        write(figure, start, top - 14, f"promised: {format_seconds(limit)}", size=SIZE)
        for row, outcome in enumerate(outcomes.values()):
            _draw_time(figure, axis, seconds(outcome), name in outcome.missed, top + ROW * (row + 0.5))
        draw_line(figure, [axis.at(limit)] * 2, [top - 4, bottom], width=1.6)
    write(figure, COST, top - 32, "Dollars/h", bold=True, size=SIZE)
    write(figure, COST, top - 14, f"at most {format_number(promised.dollars_an_hour)}", size=SIZE)
    for row, (label, outcome) in enumerate(outcomes.items()):
        y = top + ROW * (row + 0.5)
        write(figure, MARGIN, y, shortened(label, NAME_ROOM, bold=outcome.met), bold=outcome.met)
        over = " over" if BUDGET in outcome.missed else ""
        write(figure, COST, y, f"{format_number(outcome.dollars_an_hour)}{over}", size=SIZE)
    return figure


def _draw_time(figure: LessonFigure, axis: LogAxis, seconds: float, missed: bool, y: float) -> None:
    fill: Fill = PREFILL if missed else DECODE
    end = axis.at(min(max(seconds, axis.low * 1.05), axis.high))
    draw_box(figure, axis.start, y - BAR / 2, end - axis.start, BAR, fill)
    if seconds > axis.high:  # an arrow: it goes on
        figure.add_drawing(Polygon([(end, y - BAR), (end + 8, y), (end, y + BAR)], facecolor=INK))
    written = f"{format_seconds(seconds)}{' ' + MISSED if missed else ''}"
    write(figure, max(end, (axis.start + axis.end) / 2) + 10, y, written, size=SIZE)


def _one_case(outcomes: Mapping[str, Outcome]) -> Outcome:
    if not outcomes or not all(isinstance(outcome, Outcome) for outcome in outcomes.values()):
        raise TypeError("outcomes maps names to what serve(case, settings) gave, at least one")
    first = next(iter(outcomes.values()))
    if any(outcome.case is not first.case for outcome in outcomes.values()):
        raise ValueError("the outcomes are of different cases, with different promises; draw one case at a time")
    return first


def _alt_text(outcomes: Mapping[str, Outcome], title: str | None) -> str:
    words = "Bars of the simulated time to the first token and for each further one, at p95, on a logarithmic scale."
    for name, outcome in outcomes.items():
        words += f" {name}: {outcome.explain()} Missed: {', '.join(outcome.missed) or 'nothing'}."
    return f"{title}. {words}" if title else words
