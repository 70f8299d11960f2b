"""Three cases. Their requests are synthetic, drawn from fixed seeds with lengths of the kind that each service has."""

from __future__ import annotations

import random
from collections.abc import Mapping

from llmserving.clinic.case import Case, Promises
from llmserving.scheduling.request import Request, Workload

# Round numbers of the lab's own, in the order of real offers.
PRICES: Mapping[str, float] = {"l40s-48gb": 2, "a100-80gb": 3, "h100-80gb": 5, "h200-141gb": 7}
NVLINK_BYTES_PER_S = 300e9

AS_IT_IS: Mapping[str, object] = {
    "policy": "continuous",
    "max_num_seqs": 128,
    "token_budget": 2048,
    "watermark": 0.0,
    "weight_dtype": "fp16",
    "kv_dtype": "fp16",
    "gpu": "a100-80gb",
    "gpus": 1,
}
AT_ONCE, BUDGETS, WATERMARKS = range(4, 513), range(128, 8193), (0.0, 0.01, 0.05, 0.1, 0.2)


def _documents_among_chats() -> Workload:
    rng, arrival_s, requests = random.Random(5), 0.0, []
    for number in range(500):
        prompt = rng.randrange(20_000, 28_000) if rng.random() < 0.045 else rng.randrange(100, 800)
        requests.append(Request(number, arrival_s, prompt, rng.randrange(40, 140)))
        arrival_s += rng.expovariate(3)
    return Workload(requests, "chats, with a long document now and then")


def _reasoned_answers() -> Workload:
    rng, arrival_s, requests = random.Random(7), 0.0, []
    for number in range(320):
        requests.append(Request(number, arrival_s, rng.randrange(100, 600), rng.randrange(800, 3200)))
        arrival_s += rng.expovariate(1.8)
    return Workload(requests, "short questions with long answers")


def _few_programmers() -> Workload:
    rng, arrival_s, requests = random.Random(7), 0.0, []
    for number in range(60):
        requests.append(Request(number, arrival_s, rng.randrange(500, 3000), rng.randrange(150, 400)))
        arrival_s += 3 + rng.expovariate(1 / 9)
    return Workload(requests, "a few programmers, seldom two at once")


LONG_PROMPTS = Case(
    "Long prompts among chats",
    "llama-3.1-8b",
    _documents_among_chats,
    {**AS_IT_IS, "gpu": "l40s-48gb"},
    {
        "policy": ("static", "continuous", "chunked"),
        "max_num_seqs": AT_ONCE,
        "token_budget": BUDGETS,
        "weight_dtype": ("fp16", "int4"),
        "gpu": ("l40s-48gb", "a100-80gb", "h100-80gb"),
    },
    PRICES,
    NVLINK_BYTES_PER_S,
    Promises(first_token_s=3, each_token_s=0.036, dollars_an_hour=3),
)

LONG_ANSWERS = Case(
    "Long answers",
    "llama-2-7b",
    _reasoned_answers,
    {**AS_IT_IS, "max_num_seqs": 96},
    {
        "policy": ("static", "continuous", "chunked"),
        "max_num_seqs": AT_ONCE,
        "token_budget": BUDGETS,
        "watermark": WATERMARKS,
        "weight_dtype": ("fp16", "int4"),
        "kv_dtype": ("fp16", "int8"),
        "gpu": ("a100-80gb", "h100-80gb"),
        "gpus": (1, 2),
    },
    PRICES,
    NVLINK_BYTES_PER_S,
    Promises(first_token_s=2, each_token_s=0.03, dollars_an_hour=4),
)

ONE_AT_A_TIME = Case(
    "One at a time",
    "qwen2.5-32b",
    _few_programmers,
    {**AS_IT_IS, "policy": "static", "max_num_seqs": 4, "gpu": "h100-80gb"},
    {
        "policy": ("static", "continuous", "chunked"),
        "max_num_seqs": AT_ONCE,
        "token_budget": BUDGETS,
        "weight_dtype": ("fp16", "int8", "int4"),
        "kv_dtype": ("fp16", "int8"),
        "gpu": ("h100-80gb", "h200-141gb"),
        "gpus": (1, 2, 4),
    },
    PRICES,
    NVLINK_BYTES_PER_S,
    Promises(first_token_s=0.5, each_token_s=0.008, dollars_an_hour=10),
)

CASES = (LONG_PROMPTS, LONG_ANSWERS, ONE_AT_A_TIME)
