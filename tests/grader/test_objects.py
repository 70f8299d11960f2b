"""A learner's class, from the cell to the sentence: the first broken invariant, the mistake's name, and points by group."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from grader.answer_key import grade, inputs
from grader.answer_key.lab_keys import ObjectKey
from grader.answer_key.objects import grade_object
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import collect
from llmserving.exercises.exercise import Part, Probe
from llmserving.exercises.read_code import probe_inputs, read_code
from llmserving.exercises.verdict import PartVerdict
from llmserving.paging import SCRIPTS
from llmserving.paging.plain_script import plain_script, script_of
from llmserving.scheduling import SCENARIOS, SHORT_BEHIND_LONG, TWO_AND_A_FULL_POOL
from llmserving.scheduling.plain_scenario import plain_scenario, scenario_of

from tests.lib import schedulers
from tests.lib.allocators import Counting, Naive
from tests.lib.wrong_allocators import WRONG


def verdict_on(made: Any, learner: str = "default") -> PartVerdict:
    data = collect("LAB3A.2", {"PagedKV": made}, inputs("LAB3A.2", learner))
    [part] = grade({"LAB3A.2": data}, learner)["LAB3A.2"].parts.values()
    return part


RIGHT: list[Any] = [Naive, Counting]


@pytest.mark.parametrize("made", RIGHT)
def test_right_allocators_that_have_nothing_in_common_earn_all(made: Any) -> None:
    for learner in ("default", "ada"):
        assert (verdict_on(made, learner).score, verdict_on(made, learner).message) == (4, "Right.")


# Those that only misuse a prefix cache, or a rule that no script of this exercise tries, are right here.
NOT_ASKED = {"ForgetsTheParent", "ForgetsTheKey", "NeverEvicts", "HitsWholePrompts", "SharesInSilence", "CountsHitsAsFree",
             "LeavesHitsFree", "LeavesHitsFreeAtTheBack"}  # fmt: skip


@pytest.mark.parametrize("made", list(dict.fromkeys(row[1] for row in WRONG)))
def test_every_wrong_allocator_is_told_what_it_breaks(made: Any) -> None:
    part = verdict_on(made)
    if made.__name__ in NOT_ASKED:
        return
    assert part.score < 4
    assert "In the script '" in part.message
    assert part.diagnoses


def test_a_mistake_written_in_another_way_has_its_name_and_the_operation() -> None:
    never_copies = next(row[1] for row in WRONG if row[1].__name__ == "NeverCopies")
    part = verdict_on(never_copies)
    assert (part.score, part.diagnoses, part.reread) == (2, ("written_in_place",), "Fork and copy-on-write")
    assert part.message.startswith("Right: growing, refusing. Not yet: sharing. A block that another request holds too")
    assert (
        "In the script 'Fork and copy on write': Operation 3, append to 'b': block 1 was written while 'a'"
        in part.message
    )


def test_a_mistake_without_a_name_is_told_by_its_invariant() -> None:
    in_front = next(row[1] for row in WRONG if row[1].__name__ == "InFront")
    part = verdict_on(in_front)
    assert part.diagnoses == ("broken: read back",)
    assert "'a' does not read back its own tokens" in part.message


def test_whatever_was_made_in_its_play_the_event_at_which_it_parts_is_named() -> None:
    """A trace without a broken invariant that is not the reference's: nobody's allocator, and not believed."""
    data = collect("LAB3A.2", {"PagedKV": Naive}, inputs("LAB3A.2"))
    step = data["parts"]["allocator"]["plays"][1]["steps"][2]
    step["events"][0]["free_blocks"] += 1
    [part] = grade({"LAB3A.2": data})["LAB3A.2"].parts.values()
    assert part.diagnoses == ("parts_ways",)
    assert "In the script 'Fork and copy on write', operation 3: copy of 'b' leaves 6 blocks free" in part.message


def test_a_trace_that_stops_early_is_not_believed() -> None:
    data = collect("LAB3A.2", {"PagedKV": Naive}, inputs("LAB3A.2"))
    del data["parts"]["allocator"]["plays"][0]["steps"][-1]
    [part] = grade({"LAB3A.2": data})["LAB3A.2"].parts.values()
    assert (part.score, part.diagnoses) == (3, ("parts_ways",))
    assert "the play stops before it" in part.message


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
def test_a_script_is_the_same_after_it_was_plain(script: Any) -> None:
    assert script_of(plain_script(script)) == script


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.title)
def test_a_scenario_is_the_same_after_it_was_plain(scenario: Any) -> None:
    again = scenario_of(plain_scenario(scenario))
    assert plain_scenario(again) == plain_scenario(scenario)
    assert list(again.workload) == list(scenario.workload)


SCHEDULER = Part(
    "scheduler",
    "Mine",
    "object",
    "a scheduler",
    ("Look.",),
    probes=(Probe("all", plain_scenario(TWO_AND_A_FULL_POOL)), Probe("all", plain_scenario(SHORT_BEHIND_LONG))),
    player="scheduler",
)


def schedule_verdict(made: Any) -> PartVerdict:
    key = ObjectKey(schedulers.Plain, schedulers.OneAtATime, {"all": 1}, lambda rng: (), (), "Steps")
    return grade_object(SCHEDULER, key, read_code(SCHEDULER, made, probe_inputs(SCHEDULER), {}), SCHEDULER.probes)


def test_two_schedulers_that_keep_the_rules_are_right_however_their_steps_differ() -> None:
    assert [schedule_verdict(made).state for made in (schedulers.Plain, schedulers.OneAtATime)] == ["right", "right"]


@pytest.mark.parametrize("made", [schedulers.NobodyRuns, schedulers.LastComeFirst, schedulers.SendsBackWhoWaits])
def test_a_scheduler_that_breaks_a_rule_is_told_which(made: Any) -> None:
    part = schedule_verdict(made)
    assert part.score == 0
    assert part.diagnoses[0].startswith("broken: ")
    assert "In the script '" in part.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["steps", "broken", "events", "refused", "name", "operation", "sentence"]), inner
        )
    ),
)


@given(st.data())
def test_bent_plays_cost_the_part_and_never_raise(data: st.DataObject) -> None:
    sound = copy.deepcopy(SOUND)
    part = sound["parts"]["allocator"]
    play = part["plays"][data.draw(st.integers(0, len(part["plays"]) - 1))]
    events = play["steps"][0]["events"]
    target, name = data.draw(st.sampled_from([
        (part, "plays"), (part, "inputs"), (part, "library"), (part, "source"), (play, "steps"), (play, "broken"),
        (play["steps"][0], "events"), (play["steps"][0], "refused"), *((events[0], name) for name in events[0]),
    ]))  # fmt: skip
    target[name] = data.draw(JSON)
    verdict = grade({"LAB3A.2": sound})["LAB3A.2"]
    assert 0 <= verdict.score <= 4
    assert verdict.message
    assert len(verdict.message) < 4000


SOUND = collect("LAB3A.2", {"PagedKV": Naive}, inputs("LAB3A.2"))
