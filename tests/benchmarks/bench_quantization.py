"""Quantize and dequantize 4096 x 4096 float32 against torchao, interleaved: `python -m tests.benchmarks.bench_quantization`.

Both take turns in every round, so that a busy minute slows both. A ratio is torchao's time over ours, best against best:
above 1, ours is faster; the goal is 0.8. Then the matmuls by quantized weights, which have the same rules.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from llmserving.quantization import bench_matmul, dequantize, qparams, quantize
from llmserving.timing import take_turns
from llmserving.units import format_seconds

SIZE, ROUNDS, GOAL = 4096, 7, 0.8
SCHEMES: dict[str, tuple[int, tuple[int, int], dict[str, Any]]] = {
    "int8 a tensor": (8, (SIZE, SIZE), {}),
    "int8 a row": (8, (1, SIZE), {"axis": 0}),
    "int4 a group of 128": (4, (1, 128), {"group_size": 128}),
    "int4 a group of 32": (4, (1, 32), {"group_size": 32}),
}


def torchao() -> Any:
    """torchao's primitives, without what it prints about kernels for other machines."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        primitives = importlib.import_module("torchao.quantization.quant_primitives")
    logging.disable(logging.NOTSET)
    return primitives


def compare(ao: Any, x: torch.Tensor, threads: int) -> None:
    """Print one line for each scheme, step and library."""
    torch.set_num_threads(threads)
    print(f"\n{SIZE} x {SIZE} float32, torch on {threads} thread(s), numpy on 1; best … worst of {ROUNDS}, median")
    for scheme, (bits, block, granularity) in SCHEMES.items():
        high = 2**bits - 1
        ranges = ao.MappingType.ASYMMETRIC, block, torch.uint8, 0, high
        scale, zero_point = ao.choose_qparams_affine(x, *ranges)
        codes = ao.quantize_affine(x, block, scale, zero_point, torch.uint8, 0, high)
        uses = {"quant_min": 0, "quant_max": high}
        runs: dict[str, Callable[[], Any]] = {
            "scales|torchao": partial(ao.choose_qparams_affine, x, *ranges),
            "quantize|torchao": partial(ao.quantize_affine, x, block, scale, zero_point, torch.uint8, **uses),
            "dequantize|torchao": partial(ao.dequantize_affine, codes, block, scale, zero_point, torch.uint8, **uses),
        }
        for name, values in (("ours, torch", x), ("ours, numpy", x.numpy())):
            scales, zeros = qparams(values, bits, **granularity)
            found = quantize(values, scales, zeros, bits)
            assert np.array_equal(np.asarray(found), codes.numpy()), "a comparison of other results would say nothing"
            runs[f"scales|{name}"] = partial(qparams, values, bits, **granularity)
            runs[f"quantize|{name}"] = partial(quantize, values, scales, zeros, bits)
            runs[f"dequantize|{name}"] = partial(dequantize, found, scales, zeros)
        samples = take_turns({name: lambda _, run=run: run() for name, run in runs.items()}, ROUNDS)  # type: ignore[misc]
        seconds = {name: taken.walls for name, taken in samples.items()}
        for label, times in seconds.items():
            step, name = label.split("|")
            ratio = min(seconds[f"{step}|torchao"]) / min(times)
            verdict = "" if name == "torchao" else f"{ratio:5.2f} x torchao"
            short = " below the goal" if step != "scales" and ratio < GOAL else ""
            span = (
                f"{format_seconds(min(times)):>8} … {format_seconds(max(times)):>8}, {format_seconds(median(times)):>8}"
            )
            print(f"{scheme:20} {step:10} {name:12} {span}  {verdict}{short}")


def main() -> None:
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((SIZE, SIZE), dtype=np.float32))
    ao, threads = torchao(), torch.get_num_threads()
    for count in sorted({1, threads}):
        compare(ao, x, count)
    torch.set_num_threads(threads)
    print("\nx [M, 4096] @ weights [4096, 4096], cold, on one thread")
    for timing in bench_matmul():
        print(timing)


if __name__ == "__main__":
    main()
