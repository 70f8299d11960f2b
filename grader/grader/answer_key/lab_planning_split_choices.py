"""Choices of LAB4.3: why the tokens grow faster than the GPUs, and what is not split at all."""

from __future__ import annotations

from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.exercises.draws import Numbers

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import ChoiceKey, Trap

_SPLIT, _ROOM = "Split over GPUs", "What is left of the memory"


def _logged_activations(n: Numbers) -> str:
    few, many = ENGINE_BUDGETS[n["few_start"]], ENGINE_BUDGETS[n["many_start"]]
    return (
        f"With tensor_parallel {n['few']} the log has {few.activations_gib:g} GiB for it on a GPU, with {n['many']} it has "
        f"{many.activations_gib:g}."
    )


def _logged_messages(n: Numbers) -> str:
    alone = ENGINE_BUDGETS["LLMD-24"]
    return (
        f"Outside of PyTorch, the logs have {alone.other_gib:g} GiB on a GPU that is alone, and with tensor_parallel "
        f"{n['many']} {ENGINE_BUDGETS[n['many_start']].other_gib:g} GiB on each."
    )


GREW = ChoiceKey(
    "weights_make_room",
    {
        "activations_split": Trap(
            "activations_split",
            "What profiling sets aside goes by requests and vocabulary, which every GPU has in full.",
            _ROOM,
            _logged_activations,
        ),
        "larger_share": Trap(
            "utilization_grows",
            "The share is a setting, gpu_memory_utilization, and was the same in both logs.",
            _ROOM,
        ),
        "pooled": Trap(
            "one_pool",
            "There is no common pool: each GPU can only use its own memory. That a token lies there in part lets the tokens "
            "grow as the GPUs do, and not by more.",
            _SPLIT,
        ),
    },
)
UNSPLIT = ChoiceKey(
    "logits",
    {
        "messages": Trap(
            "messages_unchanged",
            "A GPU on its own needs next to none of these. They come with the second one.",
            _SPLIT,
            _logged_messages,
        ),
        **named_traps(
            {
                "token_share": (
                    "token_not_split",
                    "A token's keys and values are split by KV heads, as long as there are heads enough.",
                ),
                "weights_share": ("weights_not_split", "Every matrix is cut, so the weights on a GPU are a share."),
            },
            _SPLIT,
        ),
    },
)
