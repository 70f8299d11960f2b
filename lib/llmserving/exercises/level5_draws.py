"""The numbers of level 5: a server full of reservations, and one that hardly holds its model."""

from __future__ import annotations

import math
import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.level3_paging import reservation_numbers, tail_is_partial
from llmserving.hardware import GPUS
from llmserving.kv_cache import kv_bytes
from llmserving.units import GB, KB
from llmserving.weights import weight_bytes

_CHAT_GPUS = ("a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb", "l40s-48gb", "rtx-a6000")
# (billions of weights, layers, hidden size): multi-head models.
_SHAPES = ((7, 32, 4096), (13, 40, 5120), (30, 48, 7168))


def chat_numbers(gpu: str, shape: tuple[int, int, int], used: int, max_len: int, block_size: int) -> Numbers:
    """`running`: the chats whose reservations fit beside the weights, two buckets and nothing else."""
    billions, layers, d_model = shape
    memory, weights = GPUS[gpu].sold_bytes, weight_bytes(billions * 1e9, 16)
    slot = kv_bytes(1, 1, layers, d_model)
    return {
        **reservation_numbers(max_len, used, block_size),
        "gpu": gpu,
        "billions": billions,
        "memory_gb": memory / GB,
        "weights_gb": weights / GB,
        "slot_kb": slot / KB,
        "running": (memory - weights) // (max_len * slot),
    }


def _draw_chat(rng: random.Random) -> Numbers:
    return chat_numbers(
        rng.choice(_CHAT_GPUS),
        rng.choice(_SHAPES),
        rng.randrange(36, 200),
        rng.choice([1024, 2048, 4096]),
        rng.choice([8, 16, 32]),
    )


def _full_of_nothing(n: Numbers) -> bool:
    """The reservation lies far above the use, the weights are not what fills the GPU, and the last block is partly full."""
    held = math.ceil(n["used"] / n["block_size"]) * n["block_size"]
    return (
        tail_is_partial(n)
        and n["used"] < 0.1 * n["max_len"]
        and n["weights_gb"] < 0.6 * n["memory_gb"]
        and n["running"] >= 8
        and n["running"] * held != n["max_len"]
    )


CHAT_DRAW = Draw(
    "L5.1A",
    chat_numbers("l40s-48gb", (13, 40, 5120), used=60, max_len=2048, block_size=16),
    _draw_chat,
    _full_of_nothing,
)

_BATCH_GPUS = ("a100-40gb", "a100-80gb", "h100-80gb", "h100-pcie-80gb", "l40s-48gb", "rtx-4090")
# (billions of weights, layers) of models with 8 KV heads of 128.
_MODELS = ((8, 32), (14, 40), (14, 48), (15, 40), (17, 48), (32, 64), (34, 48))
_KV_ELEMENTS = 2 * 8 * 128
BLOCK_SIZE = 16


def batch_numbers(gpu: str, model: tuple[int, int], prompts: int, length: int) -> Numbers:
    """`kv_gb`: the cache of all these prompts."""
    card, (billions, layers) = GPUS[gpu], model
    slot, weights = layers * _KV_ELEMENTS * 2, weight_bytes(billions * 1e9, 16)
    return {
        "gpu": gpu,
        "billions": billions,
        "prompts": prompts,
        "length": length,
        "tokens": prompts * length,
        "block_size": BLOCK_SIZE,
        "slot_kb": slot / KB,
        "weights_gb": weights / GB,
        "memory_gb": card.sold_bytes / GB,
        "kv_gb": prompts * length * slot / GB,
        "bandwidth_tb": card.bandwidth_bytes_per_s / 1e12,
        "fp16_tflops": card.peak_flops["fp16"] / 1e12,
        "int8_tops": card.peak_flops["int8"] / 1e12,
    }


def _draw_batch(rng: random.Random) -> Numbers:
    return batch_numbers(
        rng.choice(_BATCH_GPUS), rng.choice(_MODELS), rng.choice([6, 8, 10, 12, 16]), rng.randrange(2500, 9900, 10)
    )


def _barely_fits_and_computes(n: Numbers) -> bool:
    """Weights and cache fit with little left; a pass lies far beyond the ridge; the last block is partly full."""
    weights_share = n["weights_gb"] / n["memory_gb"]
    barely_fits = weights_share > 0.6 and 0.95 < weights_share + n["kv_gb"] / n["memory_gb"] < 1
    computes = n["tokens"] > 20 * n["fp16_tflops"] / n["bandwidth_tb"]
    empty = -n["length"] % n["block_size"]
    partial_tail = 2 <= empty <= n["block_size"] - 2 and 2 * empty != n["block_size"]
    return bool(barely_fits and computes and partial_tail)


BATCH_DRAW = Draw("L5.1B", batch_numbers("h100-80gb", (34, 48), 8, 7450), _draw_batch, _barely_fits_and_computes)
