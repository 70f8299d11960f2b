"""The lab of level 4 from the learner's chair: what is asked is what logs and simulator show, and mistakes are told as such."""

from __future__ import annotations

from typing import Any

import pytest
from grader.answer_key import KEY, grade, inputs, reference_answers
from grader.answer_key.lab_planning_written import blocks_and_tokens
from grader.selftest.as_run import run_cell
from llmserving import GPUS, MODELS, predict_decode
from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.lab_planning_log import STARTS
from llmserving.exercises.verdict import PartVerdict
from llmserving.scheduling import ContinuousBatching, Request, simulate

HEAD = "def blocks_and_tokens(kv_gib, layers, kv_heads, head_dim, bits, gpus, block_size):\n"
LEARNERS = ["default", *(f"learner-{number}" for number in range(40))]


def told(body: str) -> PartVerdict:
    data = collect("LAB4.1", run_cell(f"{HEAD}{body}"), inputs("LAB4.1"))
    [part] = grade({"LAB4.1": data})["LAB4.1"].parts.values()
    return part


def chosen(exercise_id: str, part: str, option: str, learner: str = "default") -> PartVerdict:
    exercise = EXERCISES[exercise_id]
    letters = exercise.lettered_options(exercise.part_by_name[part], learner)
    [letter] = [letter for letter, shown in letters.items() if shown.name == option]
    return KEY[exercise_id].grade({part: letter}, learner).parts[part]


@pytest.mark.parametrize("name", ["LLMD-01", "LLMD-14", "LLMD-17", "LLMD-27", "LLMD-35", "LLMD-45"])
def test_the_right_function_brackets_what_an_engine_printed(name: str) -> None:
    log = ENGINE_BUDGETS[name].log
    model, gib = log.model, ENGINE_BUDGETS[name].printed_gib
    bits = {"fp16": 16, "fp8": 8}[log.kv_dtype]
    shape = model.layers, model.kv_heads, model.head_dim, bits, log.tensor_parallel, log.block_size
    least, most = (blocks_and_tokens(gib + off, *shape)[0] for off in (-0.005, 0.005))
    assert log.blocks is not None
    assert least <= log.blocks <= most


def test_a_head_that_is_cut_is_told_where_it_shows_and_nowhere_else() -> None:
    part = told(
        "    blocks = kv_gib * 2**30 // (block_size * 2 * layers * kv_heads / gpus * head_dim * bits / 8)\n"
        "    return blocks, blocks * block_size"
    )
    assert (part.score, part.diagnoses) == (4, ("heads_cut",))
    assert "Right: one GPU, other sizes, heads split. Not yet: heads copied." in part.message


def test_parts_of_a_block_are_named_and_a_single_value_is_told_that_two_are_asked() -> None:
    blocks = "kv_gib * 2**30 / (block_size * 2 * layers * max(kv_heads // gpus, 1) * head_dim * bits / 8)"
    parts = told(f"    blocks = {blocks}\n    return blocks, blocks * block_size")
    assert (parts.score, parts.diagnoses) == (0, ("parts_of_blocks",))
    alone = told(f"    return {blocks} // 1")
    assert "which is one value. Return 2 values together, in order." in alone.message


def test_gb_and_a_forgotten_split_are_told_apart() -> None:
    token = "    token = 2 * layers * kv_heads * head_dim * bits / 8\n"
    decimal = told(f"{token}    blocks = kv_gib * 1e9 // (token * block_size)\n    return blocks, blocks * block_size")
    assert (decimal.score, decimal.diagnoses[0]) == (0, "gb_for_gib")
    whole = told(f"{token}    blocks = kv_gib * 2**30 // (token * block_size)\n    return blocks, blocks * block_size")
    assert (whole.score, whole.diagnoses) == (3, ("heads_not_split",))


def test_the_library_s_pool_is_no_work_of_one_s_own() -> None:
    part = told("    from llmserving.kv_pool import kv_pool\n    return kv_pool('phi-4', kv_gib * 2**30).blocks, 0")
    assert part.diagnoses == ("library_call",)


@pytest.mark.parametrize("learner", LEARNERS)
def test_in_every_draw_the_rate_stays_past_the_asked_batch_and_memory_holds_more(learner: str) -> None:
    n, right = EXERCISES["LAB4.2"].numbers(learner), reference_answers(EXERCISES["LAB4.2"], learner)
    assert n["model"] in MODELS
    assert n["gpu"] in GPUS
    assert right["fit"] > 1.3 * right["knee"]

    def rate(batch: float) -> float:
        step = predict_decode(n["model"], n["gpu"], batch=round(batch), context=n["context"], activations=False)
        return step.tokens_per_s

    assert rate(right["fit"]) == pytest.approx(rate(1.05 * right["knee"]), rel=1e-6)
    assert rate(0.8 * right["knee"]) < 0.96 * rate(right["knee"])
    assert rate(right["knee"]) == pytest.approx(right["rate"], rel=0.01)


def test_the_simulator_bends_where_the_roofline_says() -> None:
    n, right = EXERCISES["LAB4.2"].numbers("default"), reference_answers(EXERCISES["LAB4.2"], "default")

    def rate(batch: int) -> Any:
        crowd = [Request(number, 0, 1, 2 * n["context"]) for number in range(2 * batch)]
        ran = simulate(crowd, ContinuousBatching(batch), n["model"], n["gpu"], num_blocks=10**6)
        return ran.summary.throughput_tokens_per_s

    knee = round(right["knee"])
    assert rate(knee // 2) < 0.75 * right["rate"]
    assert rate(knee) == pytest.approx(right["rate"], rel=0.02)
    assert rate(2 * knee) == pytest.approx(right["rate"], rel=0.02)


@pytest.mark.parametrize("learner", LEARNERS[:10])
def test_the_tokens_on_more_gpus_are_those_that_the_engine_printed(learner: str) -> None:
    n, right = EXERCISES["LAB4.3"].numbers(learner), reference_answers(EXERCISES["LAB4.3"], learner)
    printed = ENGINE_BUDGETS[n["many_start"]].log.tokens
    assert right["tokens"] == pytest.approx(printed, rel=1e-3)
    assert KEY["LAB4.3"].grade({"tokens": printed}, learner).parts["tokens"].state == "right"
    assert right["tokens"] > 1.03 * n["few_tokens"] * n["many"] / n["few"], "by more than the GPUs"


@pytest.mark.parametrize("start", STARTS)
def test_the_lines_of_each_start_leave_what_it_printed_and_its_blocks_are_off(start: str) -> None:
    budget = ENGINE_BUDGETS[start]
    assert budget.left_gib == pytest.approx(budget.printed_gib, abs=0.025)
    assert budget.log.blocks != budget.log.pool().blocks, "which is what LAB4.4 asks about"


def test_a_tempting_choice_is_answered_with_numbers_of_this_scenario() -> None:
    assert "each token takes 2.9 times as long" in chosen("LAB4.2", "max_num_seqs", "all_that_fit").message
    assert "1.89" in chosen("LAB4.3", "grew", "activations_split").message
    assert "for 2,048 and for 32,768 tokens" in chosen("LAB4.4", "profile", "longest_context").message


def test_a_cache_that_shrinks_as_its_share_does_is_told_so() -> None:
    right = reference_answers(EXERCISES["LAB4.4"], "default")
    n = EXERCISES["LAB4.4"].numbers("default")
    scaled = right["left_gib"] * n["other_utilization"] / n["utilization"]
    assert KEY["LAB4.4"].grade({"other_left_gib": scaled}).parts["other_left_gib"].diagnoses == ("all_lines_scaled",)
    taken_off = KEY["LAB4.4"].grade({"left_gib": right["left_gib"] - n["graphs_gib"]}).parts["left_gib"]
    assert taken_off.diagnoses == ("graphs_taken_off",)


def test_what_follows_from_an_own_earlier_answer_earns_its_points() -> None:
    n = EXERCISES["LAB4.2"].numbers("default")
    twice = 2 * n["tflops"] / n["bandwidth_tb"]
    parts = KEY["LAB4.2"].grade({"ridge": twice, "knee": twice, "knee_int4": twice / 4}).parts
    assert (parts["ridge"].score, parts["ridge"].diagnoses) == (0, ("another_peak",))
    assert [parts[name].state for name in ("knee", "knee_int4")] == ["followed_through"] * 2
    alone = KEY["LAB4.2"].grade({"ridge": twice / 2, "knee": twice}).parts["knee"]
    assert (alone.score, alone.diagnoses) == (0, ("one_flop_a_weight",))
