"""The choices of L5.1A: bucket, cause and lever; a wrong one is answered with its own numbers on this server."""

from __future__ import annotations

from llmserving import GB, weight_bytes
from llmserving.exercises.draws import Numbers
from llmserving.units import KB, format_bytes

from grader.answer_key.key import ChoiceKey, Trap

HELD = "Held and used"
LEVERS = "What each lever moves"


def _memory_taken(n: Numbers) -> str:
    return f"Here they take {n['weights_gb']:g} of {n['memory_gb']:g} GB before the first chat, and after the last."


def _tokens_in_step(n: Numbers) -> str:
    return f"Here a step takes in one token from each of {n['running']} chats: {n['running']} vectors a layer."


def _tokens_together(n: Numbers) -> str:
    tokens = n["running"] * n["used"]
    size = format_bytes(tokens * n["slot_kb"] * KB)
    return f"Here all {n['running']} chats have {tokens:,} tokens together, {size}, beside {n['weights_gb']:g} GB of weights."


def _room_from(name: str, bits: int) -> Trap:
    """A lever on the weights: what it saves, and how many more reservations go into that."""

    def on_draw(n: Numbers) -> str:
        parameters = n["billions"] * 1e9
        saved = weight_bytes(parameters, 16) - weight_bytes(parameters, bits)
        more = int(saved // (n["max_len"] * n["slot_kb"] * KB))
        return (
            f"Here {name} would save {saved / GB:g} GB of a bucket that is not the full one: room for {more} more chats "
            f"beside {n['running']}, each holding {n['max_len']:,} slots as before."
        )

    return Trap(
        f"{name.lower()}_for_the_cache",
        "That lever shrinks the weights, and each decode step with them. What a chat holds stays as it is.",
        LEVERS,
        on_draw,
    )


def _who_runs(n: Numbers) -> str:
    return (
        f"Here {n['running']} chats are all that the memory takes in, and with every one that leaves, the next is given "
        f"{n['max_len']:,} slots again."
    )


BUCKET = ChoiceKey(
    "kv_cache",
    {
        "weights": Trap(
            "weights_blamed", "The weights are the same bytes for one chat and for all.", HELD, _memory_taken
        ),
        "activations": Trap(
            "activations_blamed",
            "Activations are those of the tokens in a step, and in decode that is one token a chat.",
            HELD,
            _tokens_in_step,
        ),
    },
)

CAUSE = ChoiceKey(
    "internal",
    {
        "external": Trap(
            "gaps_between",
            "Such gaps come from stretches of many lengths. Here all are equally long, and one that is given back fits the next "
            "chat exactly.",
            HELD,
            lambda n: f"Each of the {n['running']} has {n['max_len']:,} slots.",
        ),
        "padding": Trap(
            "scheduling_for_allocation",
            "That is time that a GPU loses when a batch is not refilled. What runs out here is memory.",
            HELD,
        ),
        "tokens": Trap("tokens_blamed", "The tokens that exist are few.", HELD, _tokens_together),
    },
)

LEVER = ChoiceKey(
    "paged_attention",
    {
        "continuous_batching": Trap(
            "who_runs_for_what_is_held",
            "Continuous batching helps beside the cure: it fills a place as soon as a chat leaves it. But the cause is memory "
            "that is reserved and empty, and no schedule gives that back.",
            LEVERS,
            _who_runs,
        ),
        "w4a16": _room_from("W4A16", 4),
        "w8a8": _room_from("W8A8", 8),
    },
)
