"""Renders docs/engines.md from the engine logs: `python -m llmserving.data.table [FILE]` prints it, or writes FILE."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from llmserving.engine_logs import ENGINE_LOGS, NOT_REPRODUCED, EngineLog
from llmserving.kv_formats import BYTES_PER_ELEMENT, kv_heads_per_rank
from llmserving.units import GiB

HEAD = """# What engines printed, and what three formulas say

Written by `python -m llmserving.data.table docs/engines.md` from `lib/llmserving/data/engine_logs.csv`; do not edit it.
Each row is one engine's start: the memory that it printed as left for the KV cache on one GPU, and the tokens that it
made of that. Beside them are the tokens that three formulas make of the same memory, and how far off they are.

- **course**: 2 · L · d_model · p bytes a token, divided among the ranks. Multi-head attention.
- **GQA**: 2 · L · max(1, KV heads // ranks) · head_dim · p, in whole blocks. Grouped queries.
- **full**: `llmserving.kv_pool`, which also knows latents, windows in groups, packed formats and pipeline stages.

An error above 0 promises tokens that are not there. GiB is 2^30 bytes. (inferred) marks a model that was
inferred from sizes, not named by the source. ¹ marks a row that cannot be reproduced, with its reason below.
"""


def scored_logs() -> list[EngineLog]:
    """The logs that print both memory and tokens."""
    return [log for log in ENGINE_LOGS.values() if log.printed_gib is not None and log.tokens is not None]


def tokens_by_course(log: EngineLog) -> int:
    """Tokens by 2 * L * d_model * p bytes a token, an equal share on each rank."""
    per_token = 2 * max(log.layout.layers_per_stage) * log.model.hidden_size * _bytes_per_element(log)
    return int(_memory(log) * log.tensor_parallel // per_token)


def tokens_by_gqa(log: EngineLog) -> int:
    """Tokens by the KV heads of a rank and the head's width, in whole blocks."""
    heads = kv_heads_per_rank(log.model, log.tensor_parallel)
    per_token = 2 * max(log.layout.layers_per_stage) * heads * log.model.head_dim * _bytes_per_element(log)
    return int(_memory(log) // (per_token * log.block_size)) * log.block_size


def tokens_in_full(log: EngineLog) -> int:
    """Tokens of the pool that this library makes of the printed memory."""
    return log.pool().tokens


def error(predicted: int, log: EngineLog) -> float:
    """How far a prediction is from the printed tokens, as a part of them."""
    return predicted / (log.tokens or 1) - 1


def rendered() -> str:
    """The text of docs/engines.md."""
    return "\n".join([HEAD, *_summary(), "", *_tokens(), "", *_host_blocks(), "", *_exceptions(), ""])


def _summary() -> Iterator[str]:
    reproducible = [log for log in scored_logs() if log.id not in NOT_REPRODUCED]
    yield f"Of the {len(ENGINE_LOGS)} logs, {len(scored_logs())} print memory and tokens, and {len(reproducible)} of those can be"
    yield "reproduced. Within 1 % of what was printed:"
    yield ""
    yield "| formula | within 1 % | worst |"
    yield "|---|---|---|"
    for name, predict in (("course", tokens_by_course), ("GQA", tokens_by_gqa), ("full", tokens_in_full)):
        errors = [error(predict(log), log) for log in reproducible]
        near = sum(abs(off) <= 0.01 for off in errors)
        yield f"| {name} | {near} of {len(errors)} | {_percent(max(errors, key=abs))} |"


def _tokens() -> Iterator[str]:
    yield "## Tokens of the printed memory"
    yield ""
    yield "| log | model | TP | PP | KV | block | GiB | tokens printed | course | | GQA | | full | |"
    yield "|---|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for log in scored_logs():
        cells = [
            log.id + (" ¹" if log.id in NOT_REPRODUCED else ""),
            log.model.name + (" (inferred)" if log.model_is_inferred else ""),
            str(log.tensor_parallel), str(log.pipeline_parallel), log.kv_dtype, str(log.block_size),
            f"{float(_memory(log) / GiB):g}", f"{log.tokens:,}",
        ]  # fmt: skip
        for predict in (tokens_by_course, tokens_by_gqa, tokens_in_full):
            cells += [f"{predict(log):,}", _percent(error(predict(log), log))]
        yield f"| {' | '.join(cells)} |"


def _host_blocks() -> Iterator[str]:
    yield "## Blocks in the host's memory"
    yield ""
    yield "vLLM V0 printed how many blocks its swap space holds for each GPU: a whole number, so it agrees exactly or not."
    yield ""
    yield "| log | model | TP | swap GiB | CPU blocks printed | full |"
    yield "|---|---|--:|--:|--:|--:|"
    for log in ENGINE_LOGS.values():
        if log.cpu_blocks is not None:
            cells = [
                log.id,
                log.model.name,
                log.tensor_parallel,
                log.swap_gib,
                log.cpu_blocks,
                log.predicted_cpu_blocks(),
            ]
            yield f"| {' | '.join(str(cell) for cell in cells)} |"


def _exceptions() -> Iterator[str]:
    yield "## What cannot be reproduced"
    yield ""
    for log_id, reason in NOT_REPRODUCED.items():
        yield f"- {log_id}: {reason}"


def _memory(log: EngineLog) -> Fraction:
    return (log.printed_gib or Fraction(0)) * GiB


def _bytes_per_element(log: EngineLog) -> Fraction:
    return BYTES_PER_ELEMENT.get(log.kv_dtype, Fraction(1))  # the packed latent is 8 bits an element to a formula


def _percent(part: float) -> str:
    percent = round(100 * part, 2 if abs(part) < 0.1 else 0) or 0.0  # no -0.00
    return f"{percent:+.2f} %" if abs(part) < 0.1 else f"{percent:+.0f} %"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
    else:
        sys.stdout.write(rendered())
