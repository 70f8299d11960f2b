"""A GPU is one row of data: memory as the card reports it, not as it is sold."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import date
from typing import Any

import pytest
from llmserving.hardware import GPUS, Gpu
from llmserving.units import GiB

H100 = GPUS["h100-80gb"]


def test_the_h100_reports_79_19_gib_and_is_sold_with_80_gb() -> None:
    assert round(H100.memory_bytes / GiB, 2) == 79.19
    assert H100.sold_bytes == 80_000_000_000
    assert H100.memory_bytes > H100.sold_bytes
    assert H100.bandwidth_bytes_per_s == 3.35e12
    assert H100.peak_flops["bf16"] == 989.5e12


@pytest.mark.parametrize(
    ("name", "gib"),
    [("a100-80gb", 79.15), ("a10g-24gb", 22.07), ("t4-16gb", 14.56), ("rtx-3090", 23.58), ("h200-141gb", 139.80)],
)
def test_other_cards_report_what_their_logs_print(name: str, gib: float) -> None:
    assert round(GPUS[name].memory_bytes / GiB, 2) == gib


@pytest.mark.parametrize(("name", "dtype", "ridge"), [("a100-40gb", "bf16", 200.6), ("a100-80gb", "bf16", 153),
                                                      ("h100-80gb", "bf16", 295.4), ("tpu-v5e", "bf16", 240)])  # fmt: skip
def test_peaks_and_bandwidths_give_the_ridges_of_the_literature(name: str, dtype: str, ridge: float) -> None:
    gpu = GPUS[name]
    assert gpu.peak_flops[dtype] / gpu.bandwidth_bytes_per_s == pytest.approx(ridge, rel=2e-3)


@pytest.mark.parametrize("gpu", GPUS.values(), ids=list(GPUS))
def test_every_row_is_plausible_and_has_a_source_and_a_date(gpu: Gpu) -> None:
    assert gpu.source
    assert date.fromisoformat(gpu.date) <= date(2026, 11, 29)
    assert 0.9 < gpu.memory_bytes / gpu.sold_bytes < 1.08  # at most GiB for GB
    assert 1e11 < gpu.bandwidth_bytes_per_s < 1e13
    assert gpu.peak_flops.get("bf16", gpu.peak_flops.get("fp16")) is not None
    assert all(1e12 < flops < 1e16 for flops in gpu.peak_flops.values())


@pytest.mark.parametrize("spelling", ["h100", "H100-80GB", "NVIDIA H100 80GB HBM3", "h100-sxm"])
def test_a_gpu_is_found_by_other_spellings(spelling: str) -> None:
    assert GPUS[spelling] is H100


def test_an_unknown_gpu_gets_the_nearest_ones() -> None:
    with pytest.raises(KeyError) as refusal:
        GPUS["h1000"]
    assert str(refusal.value).startswith("there is no GPU 'h1000'; the nearest are 'h100'")


def test_a_gpu_cannot_be_changed_but_replaced_copied_and_sent() -> None:
    with pytest.raises(FrozenInstanceError):
        H100.memory_bytes = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        H100.peak_flops["bf16"] = 1  # type: ignore[index]
    assert replace(H100, memory_bytes=10**9).memory_bytes == 10**9
    assert copy.deepcopy(H100) == pickle.loads(pickle.dumps(H100)) == H100
    assert len({H100, copy.deepcopy(H100), GPUS["a100-80gb"]}) == 2


def test_changing_the_mapping_that_was_given_changes_no_gpu() -> None:
    peaks = {"bf16": 1e14}
    gpu = Gpu("mine", 10**10, 10**10, 1e12, peaks)
    peaks["bf16"] = 5.0
    assert gpu.peak_flops == {"bf16": 1e14}


@pytest.mark.parametrize("field", ["memory_bytes", "sold_bytes", "bandwidth_bytes_per_s"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, "80", None], ids=repr)
def test_a_size_or_rate_that_is_none_is_refused_by_its_field_s_name(field: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{field} is the "):
        replace(H100, **{field: value})


@pytest.mark.parametrize("peaks", [{}, None, 1e15, {"bf16": 0}, {"bf16": math.nan}, {"bf16": "fast"}], ids=repr)
def test_peaks_that_are_none_are_refused(peaks: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^peak_flops"):
        replace(H100, peak_flops=peaks)


@pytest.mark.parametrize("name", ["", None])
def test_a_gpu_has_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match="^name is what the GPU is called"):
        replace(H100, name=name)
