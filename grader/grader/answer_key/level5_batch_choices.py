"""The choices of L5.1B: phase, wall, lever, and what waiting allows; a wrong one is answered with its own numbers."""

from __future__ import annotations

from llmserving import weight_bytes
from llmserving.exercises.draws import Numbers
from llmserving.units import format_bytes, format_number, format_seconds

from grader.answer_key.key import ChoiceKey, Trap

PASS = "A pass of many tokens"
LEVERS = "What each lever moves"


def _saved(n: Numbers, bits: int) -> int:
    parameters = n["billions"] * 1e9
    return weight_bytes(parameters, 16) - weight_bytes(parameters, bits)


def _seconds_to_read(n: Numbers, num_bytes: float) -> float:
    return num_bytes / (n["bandwidth_tb"] * 1e12)  # type: ignore[no-any-return]


def _reading(n: Numbers) -> str:
    weights = n["weights_gb"] * 1e9
    return (
        f"Here one reading of {format_bytes(weights)} takes {format_seconds(_seconds_to_read(n, weights))}, and serves "
        f"{n['tokens']:,} tokens. How long do their products take?"
    )


def _it_fits(n: Numbers) -> str:
    taken = n["weights_gb"] + n["kv_gb"]
    return f"Here {format_number(taken)} of {n['memory_gb']:g} GB are taken."


def _tokens_in(n: Numbers) -> str:
    return f"Here a document brings {n['length']:,} tokens, and its summary adds a few."


def _bytes_and_share(n: Numbers) -> str:
    """What W4A16 frees, and what it saves of a pass: a share, which tells neither of the two times."""
    saved = _saved(n, 4)
    products = 2 * n["billions"] * 1e9 * n["tokens"] / (n["fp16_tflops"] * 1e12)
    share = _seconds_to_read(n, saved) / products
    return (
        f"Here W4A16 would set {format_bytes(saved)} free, and reading them takes {format_number(100 * share, 2)} % of the "
        "time that the products take: the pass would be no shorter, and expanding comes on top."
    )


def _slots_in_vain(n: Numbers) -> str:
    most = n["block_size"] - 1
    return (
        f"Here a document has {n['length']:,} tokens from the start. With blocks of {n['block_size']}, at most {most} slots "
        f"of it can be empty, {format_number(100 * most / n['length'], 2)} % on top of the tokens."
    )


def _no_idle_places(n: Numbers) -> str:
    return (
        f"Here {n['prompts']} documents of {n['length']:,} tokens go in together and are soon done together: hardly a place "
        "stands idle that another could fill."
    )


PHASE = ChoiceKey(
    "prefill",
    {
        "decode": Trap(
            "decode_for_prefill",
            "Decode is long where answers are long. A summary of a few words is a few short passes.",
            PASS,
            _tokens_in,
        ),
        "both": Trap(
            "phases_alike",
            "Each document goes through both, but not with as many tokens.",
            PASS,
            _tokens_in,
        ),
    },
)

WALL = ChoiceKey(
    "arithmetic",
    {
        "bandwidth": Trap(
            "bytes_in_every_phase",
            "A pass waits for bytes where one read of the weights serves few tokens.",
            PASS,
            _reading,
        ),
        "capacity": Trap(
            "room_for_time",
            "Room decides how many documents go into a pass. Once they fit, nothing waits for it.",
            PASS,
            _it_fits,
        ),
    },
)

LEVER = ChoiceKey(
    "w8a8",
    {
        "w4a16": Trap(
            "bytes_for_arithmetic",
            "W4A16 makes room and saves reading, and multiplies in sixteen bits as before.",
            LEVERS,
            _bytes_and_share,
        ),
        "paged_attention": Trap(
            "memory_for_time",
            "PagedAttention gives back memory that was reserved in vain. It saves no time.",
            LEVERS,
            _slots_in_vain,
        ),
        "continuous_batching": Trap(
            "batching_for_arithmetic",
            "Continuous batching fills places that idle until the longest answer is done.",
            LEVERS,
            _no_idle_places,
        ),
    },
)

LATENCY = ChoiceKey(
    "larger_batch",
    {
        "chunks": Trap(
            "smooth_for_nobody",
            "Chunks keep the answers of others flowing while a long prompt goes in. Here nobody reads along.",
            LEVERS,
        ),
        "longer_reservations": Trap(
            "room_for_time",
            "A reservation costs memory, and having time does not make more of it.",
            LEVERS,
            _it_fits,
        ),
        "one_by_one": Trap(
            "latency_for_throughput",
            "That brings the first summary sooner, but then each read of the weights serves one document alone.",
            LEVERS,
            lambda n: f"Here it serves {n['prompts']} at once.",
        ),
    },
)
