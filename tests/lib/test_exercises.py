"""The public half: every id is there, draws keep the point of their exercise, and nothing says what is right."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest
from llmserving import GB, GPUS, kv_bytes
from llmserving.exercises import EXERCISES, GROUPS, NOTEBOOK_OF, Exercise, Part
from llmserving.exercises.draws import Draw, seeded
from llmserving.exercises.statement import answer_stub, fill, statement_markdown

LEARNERS = [f"learner-{number}" for number in range(200)]

COURSE_IDS = {
    "L1.1", "L1.2", "L1.3", "L2.1", "L2.2", "L2.3", "SC1", "SC2", "SC4", "SC6",
    "TF1", "TF3", "TF4", "SE1", "SE2", "WH1", "EC8",
    "L3.1", "L3.2", "L3.3", "SC3", "SC5", "TF2", "TF5", "TF6", "TF7", "TF8", "TF10", "WH2", "WH3", "WH4", "ST1",
    *(f"SE{number}" for number in range(3, 9)), *(f"EC{number}" for number in range(1, 8)),
    "L5.1A", "L5.1B",
}  # fmt: skip


def _parts() -> Iterator[tuple[Exercise, Part]]:
    return ((exercise, part) for exercise in EXERCISES.values() for part in exercise.parts)


def test_every_id_of_the_course_is_there() -> None:
    assert set(EXERCISES) >= COURSE_IDS
    assert sorted(name for ids in GROUPS.values() for name in ids) == sorted(EXERCISES)
    assert set(NOTEBOOK_OF) == set(EXERCISES)


def test_no_two_parts_read_the_same_variable() -> None:
    variables = [part.variable for _, part in _parts()]
    assert len(set(variables)) == len(variables)
    assert all(part.variable.isidentifier() for _, part in _parts() if part.kind != "measurement")


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_every_exercise_has_hints_points_and_an_effort(exercise: Exercise) -> None:
    assert exercise.points > 0
    assert 1 <= exercise.difficulty <= 5
    assert 1 <= exercise.importance <= 5
    assert f"importance {exercise.importance} of 5" in statement_markdown(exercise)
    assert exercise.minutes >= 1
    assert all(part.hints for part in exercise.parts)
    for part in exercise.parts:
        assert set(part.group_hints) <= {probe.group for probe in part.probes}
        assert all(part.group_hints.values())


def test_the_default_draw_is_the_course_s_own_numbers() -> None:
    kv = EXERCISES["L2.1"].numbers("default")
    assert {name: kv[name] for name in ("B", "S", "L", "d_model", "p")} == {
        "B": 1, "S": 2048, "L": 32, "d_model": 4096, "p": 2,
    }  # fmt: skip
    assert kv["budget_gb"] == 40
    assert EXERCISES["L2.3"].numbers("default")["parameters"] == 13e9
    assert EXERCISES["L1.1"].numbers("default") == {"prompt": 500, "first": 501, "second": 502}
    assert EXERCISES["EC8"].numbers("default")["S"] == 1
    assert EXERCISES["L3.1"].numbers("default") == {"max_len": 2048, "used": 120, "block_size": 16}
    assert EXERCISES["L3.2"].numbers("default") == {"r_min": -0.6, "r_max": 0.9}
    assert EXERCISES["SC3"].numbers("default") == {"few": 4, "many": 8}
    chat = EXERCISES["L5.1A"].numbers("default")
    assert {name: chat[name] for name in ("used", "max_len", "block_size")} == {
        "used": 60, "max_len": 2048, "block_size": 16,
    }  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_a_learner_always_meets_the_same_numbers(exercise: Exercise) -> None:
    for learner in LEARNERS[:20]:
        assert exercise.numbers(learner) == exercise.numbers(learner)
        for part in exercise.parts:
            assert exercise.lettered_options(part, learner) == exercise.lettered_options(part, learner)


def test_a_seed_is_the_same_on_every_machine() -> None:
    assert seeded("draw", "L2.1-L2.2", "ada").randrange(10**6) == 45_802


@pytest.mark.parametrize(
    "name", ["L1.1", "L2.1", "L2.3", "EC8", "L3.1", "L3.2", "L3.3", "SC3", "EC1", "EC2", "EC3", "L5.1A", "L5.1B"]
)
def test_learners_meet_different_numbers(name: str) -> None:
    drawn = {str(EXERCISES[name].numbers(learner)) for learner in LEARNERS}
    assert len(drawn) >= 5


def test_exercises_that_build_on_each_other_share_one_draw() -> None:
    for exercise in EXERCISES.values():
        for earlier in exercise.builds_on:
            assert EXERCISES[earlier].draw is exercise.draw


@pytest.mark.parametrize("learner", LEARNERS)
def test_other_draws_of_level_2_keep_the_point(learner: str) -> None:
    n = EXERCISES["L2.2"].numbers(learner)
    fit = n["budget_gb"] * GB / kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"])
    assert n["B"] > 1, "a forgotten batch must show"
    assert n["n_head"] != n["L"], "one layer and one head must be two mistakes"
    assert n["d_model"] == n["n_head"] * n["d_head"]
    assert math.floor(fit) != math.ceil(fit)
    assert 0.1 < fit % 1 < 0.9, "the fraction separates floor from ceil"
    assert abs(fit % 1 - 0.5) > 0.05, "and does not leave rounding on an edge"
    for rounded in (0.995, 1.005):
        assert math.floor(fit * rounded) == math.floor(fit), "a size rounded by 0.5 % gives the same count"
    assert EXERCISES["EC8"].numbers(learner)["B"] > 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_other_draws_of_level_3_keep_the_point(learner: str) -> None:
    n = EXERCISES["L3.1"].numbers(learner)
    assert 1 < n["used"] % n["block_size"] < n["block_size"] - 1, "a partial last block, and not the worst case"
    assert n["used"] < n["max_len"] / 2, "most of the reservation is empty"
    ends = EXERCISES["L3.2"].numbers(learner)
    assert ends["r_min"] < 0 < ends["r_max"], "the range holds 0"
    assert -ends["r_min"] != ends["r_max"], "and leans, so that max|r| is another step"
    multiple = EXERCISES["EC1"].numbers(learner)
    assert multiple["used"] % multiple["block_size"] == 0
    far = EXERCISES["EC3"].numbers(learner)
    assert far["below"] < far["r_min"] < 0 < far["r_max"] < far["above"]
    assert far["r_min"] == pytest.approx(-far["s"] * far["z"]), "the ends are levels, so that they come back exactly"
    prefill = EXERCISES["L3.3"].numbers(learner)
    assert prefill["tokens"] > 10 * prefill["fp16_tflops"] / prefill["bandwidth_tb"], "far beyond the ridge"


@pytest.mark.parametrize("learner", ["default", *LEARNERS])
def test_other_draws_of_level_5_keep_the_point(learner: str) -> None:
    chat = EXERCISES["L5.1A"].numbers(learner)
    assert chat["used"] < chat["max_len"] / 10, "the reservation lies far above the use"
    assert 1 < chat["used"] % chat["block_size"] < chat["block_size"] - 1, (
        "a partial last block, and not the worst case"
    )
    reservations_gb = chat["running"] * chat["max_len"] * chat["slot_kb"] / 1e6
    left_gb = chat["memory_gb"] - chat["weights_gb"] - reservations_gb
    assert 0 <= left_gb < chat["max_len"] * chat["slot_kb"] / 1e6, "so many fit, and not one more"
    assert chat["weights_gb"] < 0.6 * chat["memory_gb"], "the weights are not what fills the memory"
    batch = EXERCISES["L5.1B"].numbers(learner)
    assert batch["tokens"] > 20 * batch["fp16_tflops"] / batch["bandwidth_tb"], "far beyond the ridge"
    assert 0.95 < (batch["weights_gb"] + batch["kv_gb"]) / batch["memory_gb"] < 1, "it barely fits"
    assert batch["weights_gb"] > 0.6 * batch["memory_gb"], "and the weights take most of it"
    assert 1 < batch["length"] % batch["block_size"] < batch["block_size"] - 1, "a partial last block"


def test_the_numbers_of_a_gpu_are_those_of_its_row() -> None:
    for learner in ("default", *LEARNERS[:20]):
        for name in ("L5.1A", "L5.1B"):
            n = EXERCISES[name].numbers(learner)
            assert n["memory_gb"] * GB == GPUS[n["gpu"]].sold_bytes
        assert n["fp16_tflops"] * 1e12 == pytest.approx(GPUS[n["gpu"]].peak_flops["fp16"])
        assert n["bandwidth_tb"] * 1e12 == pytest.approx(GPUS[n["gpu"]].bandwidth_bytes_per_s)


def test_some_draws_round_up_and_some_round_down() -> None:
    fractions = []
    for learner in LEARNERS:
        n = EXERCISES["L2.2"].numbers(learner)
        fractions.append(n["budget_gb"] * GB / kv_bytes(1, n["S"], n["L"], n["d_model"], n["p"]) % 1)
    assert any(fraction > 0.5 for fraction in fractions)
    assert any(fraction < 0.5 for fraction in fractions)


def test_a_draw_that_cannot_keep_its_point_says_so() -> None:
    hopeless = Draw("hopeless", {}, lambda rng: {"x": rng.random()}, lambda numbers: False)
    with pytest.raises(RuntimeError, match="'hopeless' found no numbers that keep the point"):
        hopeless.numbers("ada")


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_statements_and_hints_render_for_everybody_without_leftover_braces(exercise: Exercise) -> None:
    for learner in ("default", *LEARNERS[:20], "ada#3"):
        text = statement_markdown(exercise, learner)
        assert text.startswith(f"### {exercise.id} · ")
        hints = [fill(hint, exercise, learner) for part in exercise.parts for hint in part.all_hints]
        assert not re.search(r"[{}]", "\n".join([text, *hints]))
        assert all(part.variable in text for part in exercise.parts)


def test_the_answer_stub_sets_every_variable_to_three_dots() -> None:
    assert answer_stub(EXERCISES["TF1"]) == "TF1_verdict = ...\nTF1_reason = ..."


def test_options_are_listed_by_name_so_their_place_in_the_source_tells_nothing() -> None:
    for exercise, part in _parts():
        if part.letters is None:
            names = [option.name for option in part.options]
            assert names == sorted(names), exercise.id


def test_options_are_shuffled_for_each_learner() -> None:
    for exercise, part in _parts():
        if part.options and part.letters is None:
            drawn = [exercise.lettered_options(part, learner) for learner in LEARNERS]
            for option in part.options:
                letters = {
                    letter for lettered in drawn for letter, shown in lettered.items() if shown.name == option.name
                }
                assert letters == set("ABCDEFGHIJKL"[: len(part.options)]), (exercise.id, option.name)


def test_no_name_or_text_of_the_public_half_says_which_option_is_right() -> None:
    telling = re.compile(
        r"\b(correct|right answer|answer is|solution|trap|misconception|wrong option)\b", re.IGNORECASE
    )
    for exercise, part in _parts():
        public = [exercise.statement, part.asks, *part.all_hints, *(f"{o.name} {o.text}" for o in part.options)]
        public += [
            f"{word}" for variant in (exercise.draw.course, *exercise.draw.variants) for word in variant.values()
        ]
        assert not [text for text in public if telling.search(text)], exercise.id
        shown = exercise.lettered_options(part, "default").values() if part.letters is None else ()
        quoted = [o.text for o in shown for hint in part.all_hints if o.text in hint]
        assert not quoted, f"a hint of {exercise.id} quotes an option"
        letter = re.compile(r"\b(option|letter|answer) [A-L]\b")
        assert not [hint for hint in part.all_hints if letter.search(hint)], exercise.id


def test_the_public_half_has_no_field_for_what_is_right() -> None:
    fields = {*Exercise.__dataclass_fields__, *Part.__dataclass_fields__}
    assert not fields & {"right", "answer", "solution", "reference", "tolerance", "misconceptions", "traps"}
