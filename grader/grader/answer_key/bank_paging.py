"""Keys of the question bank of paging."""

from __future__ import annotations

from llmserving.exercises import bank_paging as bank

from grader.answer_key.bank_kinds import SAME, Changed, choice, claim
from grader.answer_key.key import EXACT, Key, Misconception, ValueKey

_RESERVE = "Reserve, or hand out"
_TAIL = "Blocks and their tail"
_SIZE = "How large a block"

SE7 = choice(
    bank.SE7,
    "tail",
    {
        "gaps": ("blocks_must_be_neighbours", "Any free block will do: the block table says where each one lies."),
        "half_full": (
            "waste_in_every_block",
            "A new block is taken only when the one before is full, so all but the last are full.",
        ),
        "still_reserved": (
            "blocks_are_reserved",
            "Blocks are taken one by one, as tokens need them. Nothing is set aside.",
        ),
    },
    _TAIL,
    variants={"numbers": SAME},
)

SE8 = choice(
    bank.SE8,
    "two_things",
    {
        "cache_is_quadratic": (
            "cache_grows_quadratically",
            "The cache grows by the same number of bytes with each token.",
        ),
        "padding": (
            "padding_is_memory",
            "Padding costs time in a batch. What lies empty here was reserved for tokens that never came.",
        ),
        "paging_makes_linear": (
            "paging_cuts_flops",
            "Paging changes where keys and values lie. The dot products are as many as before.",
        ),
    },
    _RESERVE,
    variants={"twice_as_long": SAME},
)

TF6 = claim(
    bank.TF6,
    "tail_grows",
    "Think of the last block of each request, and of how much of it can be empty when blocks are large.",
    {
        "fewer_reads": (
            "slots_are_read",
            "Attention reads the tokens that are there, however they are cut into blocks.",
        ),
        "no_effect": ("block_size_is_free", "It decides how much of the last block can lie empty, in every request."),
        "only_smaller": (
            "one_token_blocks_are_free",
            "A table entry for every token, and reads in scattered bits, are a cost too.",
        ),
    },
    _SIZE,
    variants={"negated": Changed(true=True), "512": SAME},
)

EC1 = Key(
    bank.EC1,
    {
        "empty": ValueKey(
            lambda n, a: -n["used"] % n["block_size"],
            EXACT,
            (
                Misconception(
                    "worst_case_for_this",
                    lambda n, a: n["block_size"] - 1,
                    "That is the worst case, a last block with a single token. Look at how full this one is.",
                    _TAIL,
                ),
                Misconception(
                    "one_block_ahead",
                    lambda n, a: n["block_size"],
                    "That counts a block taken in advance. A block is taken when a token needs it, not before.",
                    _TAIL,
                ),
                Misconception(
                    "always_half_a_block",
                    lambda n, a: n["block_size"] / 2,
                    "Half a block is what a request of any length leaves empty on average. This length is known.",
                    _TAIL,
                ),
            ),
        )
    },
)

EC5 = choice(
    bank.EC5,
    "as_before",
    {
        "faster_attention": (
            "slots_are_read",
            "A slot without a token was never read. What paging saves is memory, not reading.",
        ),
        "much_more": (
            "gain_without_a_batch",
            "In a busy server the memory that is freed takes in more requests, and those bring the tokens. Here are none.",
        ),
        "slower_by_half": (
            "table_is_dear",
            "One look-up per block costs little beside reading the keys and values of its tokens.",
        ),
    },
    _SIZE,
    variants={
        "busy": Changed(
            right="much_more",
            traps={
                "as_before": (
                    "waiting_forgotten",
                    "Requests wait for memory here, and memory is what paging frees.",
                )
            },
        )
    },
)

EC7 = choice(
    bank.EC7,
    "no_waste_but_costs",
    {
        "best_of_all": (
            "one_token_blocks_are_free",
            "Nothing lies empty, but the table has an entry for every token, and neighbouring tokens may lie far apart.",
        ),
        "one_slot_each": ("whole_block_empty", "A block holds one token at least, so a block of one is always full."),
        "same_as_contiguous": (
            "blocks_follow_one_another",
            "Blocks are handed out as they are free, so neighbours in the text can lie far apart.",
        ),
    },
    _SIZE,
    variants={
        "maximum": Changed(
            right="same_as_contiguous",
            traps={
                "best_of_all": (
                    "long_block_is_full",
                    "A block of full length is taken for the first token, and a short request leaves most of it empty.",
                ),
                "no_waste_but_costs": (
                    "costs_of_small_blocks",
                    "A table of one entry is short, and what comes behind the last token lies empty.",
                ),
                "one_slot_each": (
                    "one_slot_for_the_tail",
                    "Everything behind the last token is empty, up to the full length. That is seldom one slot.",
                ),
            },
        )
    },
)

KEYS_HERE = (SE7, SE8, TF6, EC1, EC5, EC7)
