"""The lab of level 4, first part: the blocks and tokens that an engine's log must show for the memory it prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Part, Probe


def start_up(
    kv_gib: float, layers: int, kv_heads: int, head_dim: int, bits: int = 16, gpus: int = 1, block_size: int = 16
) -> Mapping[str, Any]:
    """The arguments of one call."""
    return {
        "kv_gib": kv_gib,
        "layers": layers,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "bits": bits,
        "gpus": gpus,
        "block_size": block_size,
    }


LAB4_1 = Exercise(
    id="LAB4.1",
    title="The pool that the log must show",
    notebook="L4/lab_planning",
    statement=(
        "Write `blocks_and_tokens`: how many blocks an engine cuts from the memory that it has left for the KV cache on each "
        "GPU, and how many tokens those blocks hold; two whole numbers, in this order. `kv_gib` is that memory in GiB of 2^30 "
        "bytes, as logs print it. A block holds `block_size` tokens, each with a key and a value of `head_dim` elements of "
        "`bits` bits for each KV head and layer. `gpus` GPUs split the KV heads between them; where there are more GPUs than "
        "KV heads, each keeps one whole head, a copy. Every token is on all GPUs, a share of it on each."
    ),
    parts=(
        Part(
            "blocks_and_tokens",
            "blocks_and_tokens",
            "function",
            "a function of these numbers, with arguments named as in the answer cell, that returns `blocks, tokens`",
            (
                "Begin with one block on one GPU: how many bytes are its tokens, in all layers, with the heads that lie there?",
                "A block is there as a whole or not at all, and tokens come by the block.",
                "A similar case: 0.5 GiB, 10 layers, 2 KV heads of 50 elements, 16 bits, blocks of 10 tokens. A token is "
                "2 * 10 * 2 * 50 * 2 = 4,000 bytes, a block 40,000: 13,421 blocks, 134,210 tokens.",
            ),
            points=5,
            group_hints={
                "other sizes": (
                    "With 16 bits and 16 tokens a block it works. Where do `bits` and `block_size` come in?",
                    "A similar case: at 8 bits a token takes half as much as at 16, so the same memory holds twice the blocks.",
                ),
                "heads split": (
                    "Every token is on all GPUs, and of its KV heads each GPU has a share. How many heads of it lie on one?",
                    "A similar case: 8 KV heads on 2 GPUs are 4 on each; a token takes half as much there as on a single GPU.",
                ),
                "heads copied": (
                    "With more GPUs than KV heads, what is the least that a GPU keeps of each token?",
                    "A similar case: 2 KV heads on 8 GPUs: each GPU keeps one whole head, as it would on 2 GPUs.",
                ),
            },
            stub=(
                "def blocks_and_tokens(kv_gib, layers, kv_heads, head_dim, bits, gpus, block_size):\n"
                '    """The blocks in kv_gib GiB on each GPU, and the tokens that they hold."""\n'
                '    raise NotImplementedError("LAB4.1: blocks and tokens")'
            ),
            probes=(
                Probe("one GPU", start_up(61.66, 32, 32, 128)),
                Probe("one GPU", start_up(58.66, 40, 8, 128)),
                Probe("other sizes", start_up(58.53, 28, 4, 128, bits=8)),
                Probe("other sizes", start_up(10.53, 40, 8, 128, bits=4, block_size=32)),
                Probe("heads split", start_up(28.44, 32, 8, 128, gpus=2)),
                Probe("heads split", start_up(37.1, 80, 8, 128, gpus=4)),
                Probe("heads copied", start_up(16.75, 48, 2, 128, gpus=8)),
            ),
            own_work=(
                "kv_pool",
                "kv_layout",
                "kv_bytes",
                "kv_bytes_per_token",
                "kv_bytes_for_request",
                "plan",
                "KvPool",
            ),
        ),
    ),
    draw=Draw("LAB4.1"),
    difficulty=3,
    minutes=15,
    importance=4,
)

EXERCISES_HERE = (LAB4_1,)
