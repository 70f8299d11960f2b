"""Claims about stepping through a schedule: figure and words move together, and a broken rule ends it and is named."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets
import pytest
from llmserving.explorers import ScheduleExplorer, schedule_explorer
from llmserving.figures import LessonFigure, schedule_state
from llmserving.figures.palette import KV_CACHE
from llmserving.scheduling import (
    LONG_PROMPT_ARRIVES,
    SCENARIOS,
    SHORT_AND_LONG_ANSWERS,
    ContinuousBatching,
    Scenario,
    play_schedule,
)
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from tests.figure_texts import outside, overlapping, text_boxes
from tests.lib import schedulers
from tests.lib.schedules import workload

SENT_BACK = (
    "Step 2, event 7 of 11: request 1 is sent back: request 0 needs a block for its next token, and none is free. It "
    "waits in front of all others; its cache is lost, and will be computed again. 1 block is free."
)
STARVED = (
    "Step 2, after event 9: request 1 runs and decodes, and was given no token. This breaks the rule 'starvation'."
)
THREE = workload((0, 4, 3), (0, 4, 3), (0, 4, 3))


def at(explorer: ScheduleExplorer, moment: int) -> str:
    explorer.controls["moment"].value = moment
    return explorer.sentence


def shown_state(explorer: ScheduleExplorer) -> tuple[Any, ...]:
    return explorer.controls["moment"].value, explorer.sentence, explorer.arithmetic, explorer.figure.svg()


def story(explorer: ScheduleExplorer) -> list[str]:
    return [explorer.tell(moment) for moment in explorer.moments]


def of_three(policy: Any, num_blocks: int = 8) -> ScheduleExplorer:
    return schedule_explorer(THREE, policy, num_blocks=num_blocks, block_size=4)


def test_it_starts_before_anybody_has_come() -> None:
    explorer = schedule_explorer()
    assert explorer.sentence == "Nothing has happened yet: 2 blocks are free, and no request has arrived."
    assert explorer.figure.alt_text == (
        "Schedule at 0 s. Runs: nobody. Waits: nobody. KV blocks held: 0 of 2. Rows of time, one a request. All 2 requests "
        "in the order of arrival. 0: not here yet. 1: not here yet."
    )
    assert explorer.arithmetic == ()
    assert explorer.controls["moment"].options[0] == ("0 of 11", 0)


def test_a_step_forward_moves_the_figure_and_the_words() -> None:
    explorer = schedule_explorer()
    seen = [shown_state(explorer)]
    for _ in range(7):
        explorer.forward.click()
        seen.append(shown_state(explorer))
    assert len({state[1] for state in seen}) == len({state[3] for state in seen}) == 8
    assert explorer.sentence == SENT_BACK
    assert "Runs: 0. Waits: 1. KV blocks held: 1 of 2. " in explorer.figure.alt_text


def test_steps_back_show_what_was_shown_before_and_the_ends_hold() -> None:
    explorer = schedule_explorer()
    explorer.back.click()
    seen = [shown_state(explorer)]
    for _ in range(11):
        explorer.forward.click()
        seen.append(shown_state(explorer))
    explorer.forward.click()
    for state in reversed(seen):
        assert shown_state(explorer) == state
        explorer.back.click()
    assert not explorer.back.disabled
    assert not explorer.forward.disabled


def test_the_figure_keeps_its_size_and_its_time_axis() -> None:
    for scenario in SCENARIOS:
        explorer = schedule_explorer(scenario, "chunked")
        views = [explorer.look_at(moment).figure for moment in explorer.moments]
        assert len({(figure.width, figure.height) for figure in views}) == 1
        assert len({tuple(axis_of(figure)) for figure in views}) == 1


def axis_of(figure: LessonFigure) -> list[str]:
    """The ticks and the name of the time axis, which are drawn last, and where."""
    texts = [artist for artist in figure.artists if isinstance(artist, Text)]
    return [f"{text.get_text()} at {text.get_position()}" for text in texts[-5:]]


def test_every_kind_of_event_has_its_sentence() -> None:
    told = story(schedule_explorer())
    assert told[1] == (
        "Before step 1, event 1 of 11: request 0 arrives at 0 s and waits: a prompt of 4 tokens, to be given 4 tokens. 2 "
        "blocks are free."
    )
    assert told[3] == (
        "Step 1, event 3 of 11: request 0 is let in: all 4 tokens of its prompt are computed in this step. 1 block is free."
    )
    assert told[5] == (
        "Step 1, event 5 of 11: request 0 has its first token at 0.01278 s: its prompt is complete. 0 blocks are free."
    )
    assert told[9] == (
        "Step 5, event 9 of 11: request 1 is let in again: all 5 tokens of its prompt and what it was given are computed "
        "in this step. 0 blocks are free."
    )
    assert told[10] == (
        "Step 5, event 10 of 11: request 1 has its cache again at 0.06387 s, and its next token, number 2. 0 blocks are free."
    )
    assert told[11] == (
        "Step 7, event 11 of 11: request 1 has its last token at 0.08941 s, number 4, and its blocks are free. 2 blocks "
        "are free."
    )


def test_figure_words_and_steps_agree_on_how_long_the_second_prefill_takes() -> None:
    """One step of 12.8 ms computes it again; then two decode. A prefill of 0.0383 s would be all three of them."""
    explorer = schedule_explorer()
    at(explorer, 11)
    assert explorer.figure.alt_text.endswith(
        " 1: arrives at 0 s, prefill 0.0128 s, preempted 0.0383 s, prefill 0.0128 s, decode 0.0255 s, finished at 0.08941 s."
    )
    assert explorer.arithmetic[-2:] == (
        "· step 5: 5 tokens of request 1's prompt; 12.8 ms",
        "→ steps 6 to 7: a token for request 1; 12.8 ms each",
    )


def test_chunks_swaps_rejections_and_held_rows_are_told() -> None:
    chunked = story(schedule_explorer(LONG_PROMPT_ARRIVES, "chunked"))
    assert any(
        "request 3 is let in: 509 tokens of its prompt are computed in this step, 509 of 4,096 by now." in one
        for one in chunked
    )
    assert any(
        "request 3 goes on: 24 tokens of its prompt are computed in this step, 4,096 of" in one for one in chunked
    )
    swapped = story(schedule_explorer(policy=ContinuousBatching(preemption="swap")))
    assert any("its cache moves to the host's memory" in one for one in swapped)
    assert any("is let in again: its cache of 4 tokens is back from the host's memory" in one for one in swapped)
    rejected = story(schedule_explorer(workload((0, 4, 3), (0, 12, 3)), num_blocks=3, block_size=4))
    assert any("is rejected: it needs four blocks, and the pool has 3, so it can never fit." in one for one in rejected)
    static = story(schedule_explorer(SHORT_AND_LONG_ANSWERS, "static"))
    assert any("number 4; its row and its memory are kept until the whole batch is done." in one for one in static)


def test_steps_that_do_the_same_share_a_line_with_a_mark_at_the_present_one() -> None:
    explorer = schedule_explorer(SHORT_AND_LONG_ANSWERS, "static")
    at(explorer, 14)
    assert explorer.arithmetic == (
        "Steps:",
        "· step 1: 32 tokens of request 0's prompt; 32 tokens of request 1's prompt; 32 tokens of request 2's prompt; "
        "12.9 ms",
        "· steps 2 to 4: a token for requests 0, 1 and 2; 12.8 ms each",
        "→ steps 5 to 8: a token for requests 1 and 2; the row of request 0 for nobody; 12.8 ms each",
    )
    for moment in range(len(explorer.moments)):
        at(explorer, moment)
        assert len([line for line in explorer.arithmetic if line.startswith("→")]) == bool(
            explorer.moments[moment].step
        )


def test_a_broken_rule_ends_it_and_is_named_with_its_step_and_event() -> None:
    explorer = of_three(schedulers.ServesTheFirst)
    assert explorer.controls["moment"].options[-1] == ("10 of 10", 10)
    assert at(explorer, 9).startswith("Step 1, event 9 of 9: request 2 has its first token")
    assert at(explorer, 10) == STARVED
    assert explorer.arithmetic[-1] == "→ step 2: it is not carried out"


def test_a_bug_ends_it_and_is_told_with_the_learner_s_line() -> None:
    explorer = of_three(schedulers.HasABug)
    said = at(explorer, len(explorer.moments) - 1)
    assert said.startswith(
        "Step 2, after event 9: schedule stopped with a bug, IndexError: list index out of range, in "
    )
    assert said.endswith(": engine.running[7].decodes += 1.")


def test_what_is_wrong_from_the_start_is_told_at_once() -> None:
    def mine() -> Any:
        raise NotImplementedError

    explorer = schedule_explorer(policy=mine)
    assert explorer.sentence == at(explorer, 1) == "Before step 1: mine() is not written yet."
    assert explorer.figure.alt_text == "No request has arrived, so there is nothing to draw."


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
@pytest.mark.parametrize("policy", ["static", "continuous", "chunked", schedulers.Plain])
def test_every_moment_of_every_scenario_is_told_and_legible(scenario: Scenario, policy: Any) -> None:
    explorer = schedule_explorer(scenario, policy)
    for number, moment in enumerate(explorer.moments):
        view = explorer.look_at(moment)
        assert (f", event {number} of {len(explorer.moments) - 1}: request " in view.sentence) == bool(number)
        if number % 7 == 0:
            legible(view.figure)
    legible(explorer.look_at(explorer.moments[-1]).figure)


def legible(figure: LessonFigure) -> None:
    boxes = text_boxes(figure)
    assert overlapping(boxes) == []
    assert outside(figure, boxes) == []


def test_the_bar_is_filled_as_far_as_the_pool_is_held() -> None:
    events = play_schedule(LONG_PROMPT_ARRIVES).events

    def held(figure: LessonFigure) -> list[float]:
        boxes = [one for one in figure.artists if isinstance(one, Rectangle)]
        return [box.get_width() for box in boxes if to_hex(box.get_facecolor()) == KV_CACHE.face]

    assert held(schedule_state(events, 300, 0)) == []
    four, twelve = (held(schedule_state(events, 300, upto)) for upto in (4, 6))
    assert twelve[0] == pytest.approx(3 * four[0])
    with pytest.raises(ValueError, match="num_blocks is the pool's 100 blocks, but the log has 300 free ones"):
        schedule_state(events, 100)
    assert schedule_state(events, 300, title="Then").alt_text.startswith("Then. Schedule at 0.8809 s. Runs: nobody.")


def test_it_can_be_named_and_worked_by_keyboard() -> None:
    slider, buttons = schedule_explorer().children[:2]
    assert slider.description == "Event"
    assert [button.description for button in buttons.children] == ["Back", "Forward"]
    assert all(button.tooltip for button in buttons.children)


def test_the_sentence_stands_in_a_live_region() -> None:
    explorer = schedule_explorer()
    at(explorer, 7)
    values = [child.value for child in explorer.children if isinstance(child, ipywidgets.HTML)]
    regions = [value for value in values if 'role="status" aria-live="polite"' in value]
    assert len(regions) == 1
    assert html.escape(SENT_BACK) in regions[0]


def test_of_a_long_story_the_beginning_and_the_end_are_told_where_it_stands_still() -> None:
    explorer = schedule_explorer(SHORT_AND_LONG_ANSWERS, schedulers.OneAtATime)
    told, text = story(explorer), explorer._repr_mimebundle_()["text/plain"]
    assert len(told) > 200
    assert f"{told[1]}\n{told[2]}" in text
    assert text.endswith(f"{told[99]}\nand so on, {len(told) - 101} more, until:\n{told[-1]}")


def test_where_widgets_cannot_load_all_is_told_beside_the_figure_the_same_from_run_to_run() -> None:
    explorer = of_three(schedulers.ServesTheFirst)
    bundle, again = explorer._repr_mimebundle_(), of_three(schedulers.ServesTheFirst)._repr_mimebundle_()
    assert explorer.figure.svg() in bundle["text/html"]
    for words in story(explorer):
        assert html.escape(words) in bundle["text/html"]
        assert words in bundle["text/plain"]
    assert bundle["text/plain"] == again["text/plain"]
    assert bundle["text/html"] == again["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
