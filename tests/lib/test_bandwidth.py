"""Claims about measuring: bytes are counted by a stated rule, results are looked at, and a disturbed machine gets no number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llmserving.timing import FakeClock
from llmserving.units import GiB, KiB, MiB

from tests.lib.bandwidth_fakes import fake_operation, measured
from tests.skips import need_torch

need_torch()

import torch  # noqa: E402
from llmserving.bandwidth import machine as machine_module  # noqa: E402
from llmserving.bandwidth.buffer import plan_buffer  # noqa: E402
from llmserving.bandwidth.caches import last_level_cache  # noqa: E402
from llmserving.bandwidth.machine import Machine, NoDevice, processor_name, this_machine  # noqa: E402
from llmserving.bandwidth.matmuls import (  # noqa: E402
    linear_operations,
    peak_operation,
    quantized_operations,
)
from llmserving.bandwidth.measure import measure_operations  # noqa: E402
from llmserving.bandwidth.memory import available_memory  # noqa: E402
from llmserving.bandwidth.operation import Operation, Rotation  # noqa: E402
from llmserving.bandwidth.operations import bus_bytes, memory_operations, random_buffer, slots_of  # noqa: E402

SLOT = 48 * KiB


def memory(name: str) -> Operation:
    return memory_operations(slots_of(random_buffer(4 * SLOT), SLOT), (name,))[0]


# Bytes


@pytest.mark.parametrize(
    ("name", "counted", "on_bus"),
    [
        ("read", SLOT, SLOT),
        ("write", SLOT, 2 * SLOT),
        ("copy", SLOT, SLOT * 3 // 2),
        ("triad", SLOT, SLOT * 4 // 3),
    ],
)
def test_a_slot_s_bytes_count_once_and_on_the_bus_what_is_written_twice(name: str, counted: int, on_bus: int) -> None:
    operation = memory(name)
    assert (operation.bytes_counted, operation.bytes_on_bus) == (counted, on_bus)
    assert operation.buffer_bytes == 4 * SLOT
    assert operation.rotation.slots == 4


def test_a_gpu_does_not_read_what_it_overwrites() -> None:
    assert bus_bytes("cpu", 100, 50) == 200
    assert bus_bytes("cuda", 100, 50) == 150


def test_a_matmul_counts_weights_inputs_and_outputs_once() -> None:
    one, many = linear_operations("bfloat16", (1, 16), 128, 10**6)
    assert one.bytes_counted == 2 * 128**2 + 2 * 2 * 128
    assert many.bytes_counted == 2 * 128**2 + 2 * 2 * 16 * 128
    assert (one.flops, many.flops) == (2 * 128**2, 2 * 16 * 128**2)
    assert one.rotation is many.rotation
    assert one.rotation.slots == 31, "30 copies are 983 KB, which is less than the million bytes asked for"
    assert one.buffer_bytes == 31 * 2 * 128**2 >= 10**6


def test_quantized_weights_count_as_they_are_stored() -> None:
    operations, _ = quantized_operations((1,), 256, 10**6)
    weights = {operation.name: operation.bytes_counted - 2 * 2 * 256 for operation in operations}
    assert weights["bfloat16, beside"] == 2 * 256**2
    assert weights["W8A8"] == 256**2 + 4 * 256
    assert sum(operation.buffer_bytes for operation in operations) >= 10**6, "together they fill what was asked for"
    groups = 256 * 256 // 128
    assert weights["W4A16, expanded first"] == 256**2 // 2 + 2 * groups + groups // 2


# Results


@pytest.mark.parametrize("name", ["read", "write", "copy", "triad"])
def test_each_memory_operation_does_what_it_says_on_every_slot(name: str) -> None:
    operation = memory(name)
    assert all(operation.is_right(slot, operation.run(slot)) for slot in range(4))


@pytest.mark.parametrize("name", ["write", "copy", "triad"])
def test_an_operation_left_out_is_noticed(name: str) -> None:
    assert not memory(name).is_right(0, 0.5)


def test_a_read_that_skips_half_is_noticed() -> None:
    slots = slots_of(random_buffer(SLOT), SLOT)
    (operation,) = memory_operations(slots, ("read",))
    assert operation.is_right(0, operation.run(0))
    assert not operation.is_right(0, torch.dot(slots[0][::2], slots[0][::2]))
    assert not operation.is_right(0, float("nan"))


def test_copy_and_triad_leave_what_they_read() -> None:
    buffer = random_buffer(SLOT)
    before = buffer.clone()
    copy, triad = memory_operations(slots_of(buffer, SLOT), ("copy", "triad"))
    copy.run(0)
    assert torch.equal(buffer[: len(buffer) // 2], before[: len(buffer) // 2])
    assert torch.equal(buffer[len(buffer) // 2 :], before[: len(buffer) // 2])
    kept = buffer[: len(buffer) * 2 // 3].clone()
    triad.run(0)
    assert torch.equal(buffer[: len(kept)], kept)


def test_data_are_random_and_the_same_each_time() -> None:
    assert torch.equal(random_buffer(SLOT), random_buffer(SLOT))
    assert len(random_buffer(SLOT).unique()) > SLOT // 8


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_matmuls_are_held_against_float64(dtype: str) -> None:
    for operation in [*linear_operations(dtype, (1, 16), 128, 10**5), peak_operation(dtype, 128)]:
        found = operation.run(0)
        assert operation.is_right(0, found)
        assert not operation.is_right(0, found * 1.1)
        assert not operation.is_right(0, found[:, :100])


def test_quantized_matmuls_are_held_against_float64_too() -> None:
    operations, _ = quantized_operations((1, 16), 256, 10**6)
    assert len(operations) >= 6
    for operation in operations:
        found = operation.run(1)
        assert operation.is_right(1, found), operation.name
        assert not operation.is_right(1, found + found.abs().max()), operation.name


def test_without_torch_s_int4_kernel_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmserving.quantization.int4_kernel.has_int4_kernel", lambda: False)
    operations, skipped = quantized_operations((1,), 256, 10**6)
    assert "W4A16, fused" not in {operation.name for operation in operations}
    assert skipped == ["W4A16, fused: skipped, for this torch has no int4 matmul for processors"]


# The window


def test_slots_come_in_turn_and_are_shared_by_those_who_take_turns() -> None:
    rotation = Rotation(3)
    assert [rotation.step() for _ in range(5)] == [0, 1, 2, 0, 1]
    with pytest.raises(ValueError, match="at least 1"):
        Rotation(0)
    read, copy = memory_operations(slots_of(random_buffer(4 * SLOT), SLOT), ("read", "copy"))
    assert read.rotation is copy.rotation


@pytest.mark.parametrize(("cache", "buffer"), [(32 * MiB, 132 * MiB), (6 * MiB, 24 * MiB), (35 * MiB + 1, 144 * MiB)])
def test_the_buffer_is_at_least_four_caches_in_whole_windows(cache: int, buffer: int) -> None:
    plan = plan_buffer("cpu", cache, 8 * GiB)
    assert plan.num_bytes == buffer >= 4 * cache
    assert plan.remarks == ()
    assert plan.slot_bytes * plan.slots == plan.num_bytes


def test_an_unknown_cache_is_told() -> None:
    plan = plan_buffer("cpu", None, 8 * GiB)
    assert "does not tell the size of the last-level cache; 64 MiB is assumed" in plan.remarks[0]


def test_too_little_memory_makes_the_buffer_smaller_and_says_so() -> None:
    plan = plan_buffer("cpu", 64 * MiB, 200 * MiB)
    assert plan.num_bytes <= 100 * MiB
    assert "too little memory: the buffer is 100 MiB instead of 258 MiB" in plan.remarks[0]
    assert "less than 4 caches of 64 MiB" in plan.remarks[1]
    with pytest.raises(MemoryError, match="hold no buffer"):
        plan_buffer("cpu", 64 * MiB, 50 * KiB)


def test_a_buffer_that_was_asked_for_and_does_not_fit_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(MemoryError, match="nothing was measured: a buffer of 101 MiB is more than half of the 200 MiB"):
        plan_buffer("cpu", 4 * MiB, 200 * MiB, 101 * MiB)
    assert plan_buffer("cpu", 4 * MiB, 200 * MiB, 96 * MiB).num_bytes == 96 * MiB


def test_weights_that_cannot_fit_are_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmserving.bandwidth import suite

    monkeypatch.setattr(suite, "available_memory", lambda: 4 * GiB)
    with pytest.raises(MemoryError, match="nothing was measured: weights of 131,072 by 131,072 need 262,144 MiB"):
        suite.measure_machine("cpu", ["roofline"], size=131072, clock=FakeClock())


def test_a_buffer_that_was_asked_for_is_warned_of_when_it_is_small() -> None:
    plan = plan_buffer("cpu", 64 * MiB, 8 * GiB, 12 * MiB)
    assert plan.num_bytes == 12 * MiB
    assert len(plan.remarks) == 1
    with pytest.raises(ValueError, match="buffer is the bytes"):
        plan_buffer("cpu", 64 * MiB, 8 * GiB, 0)


def test_a_gpu_s_buffer_is_gigabytes_and_far_beyond_its_l2() -> None:
    plan = plan_buffer("cuda", 60 * MiB, 100 * GiB)
    assert plan.num_bytes == 3 * GiB
    assert plan.slot_bytes > 4 * 60 * MiB


# The measuring


def test_a_sample_is_calls_enough_for_milliseconds_and_its_bytes_are_theirs() -> None:
    clock = FakeClock()
    (found,) = measure_operations([fake_operation(clock, 1e-4)], clock, cache_bytes=16 * MiB)
    assert found.calls == 25
    assert (found.bytes_counted, found.bytes_on_bus, found.flops) == (25 * 8_000_000, 25 * 12_000_000, 25 * 16_000_000)
    assert found.bytes_per_s == pytest.approx(8e10)
    assert found.median_bytes_per_s == pytest.approx(8e10)
    assert found.bus_bytes_per_s == pytest.approx(12e10)
    assert found.flops_per_s == pytest.approx(16e10)
    assert found.call_seconds == pytest.approx(1e-4)
    assert len(found.samples.walls) == 20
    assert (found.intensity, found.exceeds_cache) == (2.0, True)


def test_one_long_call_is_a_sample() -> None:
    clock = FakeClock()
    assert measure_operations([fake_operation(clock, 0.5)], clock)[0].calls == 1


def test_a_clock_that_wants_ten_launches_gets_ten() -> None:
    clock = FakeClock()
    clock.least_calls = 10
    assert measure_operations([fake_operation(clock, 0.5)], clock)[0].calls == 10


def test_a_disturbed_machine_gets_more_samples_and_then_a_verdict_instead_of_a_number() -> None:
    clock = FakeClock(stolen=(1e-3,) * 1000)
    (found,) = measure_operations([fake_operation(clock, 2.5e-3)], clock)
    assert len(found.samples.walls) == 100
    assert found.verdict == "DISTURBED"
    assert (found.bytes_per_s, found.median_bytes_per_s, found.flops_per_s, found.call_seconds) == (None,) * 4


def test_a_half_disturbed_machine_gives_the_figure_of_its_quiet_half() -> None:
    clock = FakeClock(stolen=(0.0, 4e-3) * 500)
    (found,) = measure_operations([fake_operation(clock, 2.5e-3)], clock)
    assert found.samples.quiet_share == pytest.approx(0.5)
    assert found.bytes_per_s == pytest.approx(8e6 / 2.5e-3)
    assert sum(found.samples.is_quiet) >= 20


def test_a_drifting_machine_is_told_apart_from_a_steady_one() -> None:
    clock = FakeClock()
    drifting, steady = measure_operations(
        [fake_operation(clock, lambda call: 2e-3 * (1 + call / 50)), fake_operation(clock, 2e-3)], clock
    )
    assert (drifting.samples.drifts, steady.samples.drifts) == (True, False)


def test_too_few_samples_are_no_figure() -> None:
    clock = FakeClock()
    (found,) = measure_operations([fake_operation(clock)], clock, samples=5, seconds=1e-9)
    assert (found.verdict, found.bytes_per_s) == ("TOO FEW", None)


def test_a_wrong_result_is_no_figure() -> None:
    clock = FakeClock()
    (found,) = measure_operations([fake_operation(clock, right=False)], clock)
    assert (found.verdict, found.bytes_per_s) == ("WRONG RESULT", None)


def test_a_result_that_goes_wrong_later_is_noticed() -> None:
    clock = FakeClock()
    good = fake_operation(clock, 2.5e-3)
    calls = iter(range(10**6))

    def run(slot: int) -> Any:
        good.run(slot)
        return slot if next(calls) < 10 else -1

    (found,) = measure_operations([_changed(good, run=run)], clock)
    assert found.verdict == "WRONG RESULT"


def test_checks_stand_outside_of_the_timed_part() -> None:
    clock = FakeClock()

    def slow_check(slot: int, found: Any) -> bool:
        clock.advance(50.0)
        return True

    (found,) = measure_operations([_changed(fake_operation(clock, 2.5e-3), is_right=slow_check)], clock)
    assert max(found.samples.walls) == pytest.approx(2.5e-3)


def test_operations_take_turns() -> None:
    clock, seen = FakeClock(), list[str]()

    def named(name: str) -> Operation:
        operation = fake_operation(clock, 2.5e-3, name=name)

        def run(slot: int) -> Any:
            seen.append(name)
            return operation.run(slot)

        return _changed(operation, run=run)

    measure_operations([named("a"), named("b")], clock)
    assert seen[-40:] == ["a", "b"] * 20


def test_what_does_not_run_here_is_left_out_with_a_sentence() -> None:
    clock, skipped = FakeClock(), list[str]()

    def fails(_: int) -> None:
        raise RuntimeError("no kernel image\nsecond line")

    broken = _changed(fake_operation(clock, name="W8A8", rows=16), run=fails)
    found = measure_operations([broken, fake_operation(clock)], clock, skipped=skipped)
    assert [m.operation for m in found] == ["read"]
    assert skipped == ["W8A8 with M = 16: skipped, for it does not run here (no kernel image)"]
    with pytest.raises(RuntimeError, match="no kernel image"):
        measure_operations([broken], clock)


def test_a_measurement_comes_back_from_plain_data() -> None:
    found = measured("linear", 2.5e-3, rows=4, flops=10**9)
    assert type(found).from_dict(found.as_dict()) == found
    assert measured("read", stolen=5e-4).verdict == "DISTURBED"


def _changed(operation: Operation, **fields: Any) -> Operation:
    from dataclasses import replace

    return replace(operation, **fields)


# The machine


def cache_folder(folder: Path, caches: list[tuple[str, str, str]]) -> Path:
    for index, (level, kind, size) in enumerate(caches):
        place = folder / f"index{index}"
        place.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (place / name).write_text(f"{text}\n")
    return folder


def test_the_last_cache_is_the_one_of_the_highest_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    listed = [("1", "Data", "48K"), ("1", "Instruction", "64M"), ("3", "Unified", "36M"), ("2", "Unified", "2048K")]
    assert last_level_cache(cache_folder(tmp_path, listed)) == 36 * MiB


def test_where_the_system_tells_no_cache_none_is_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert last_level_cache(tmp_path) is None
    assert last_level_cache(cache_folder(tmp_path, [("x", "Data", "48K")])) is None


def test_a_mac_is_asked_by_sysctl(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    told = {"hw.perflevel0.l2cachesize": "16777216\n"}

    def run(command: list[str], **_: Any) -> Any:
        if command[-1] not in told:
            raise subprocess.CalledProcessError(1, command)
        return subprocess.CompletedProcess(command, 0, told[command[-1]], "")

    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("subprocess.run", run)
    assert last_level_cache() == 16 * MiB
    told.clear()
    assert last_level_cache() is None


def test_free_memory_is_the_least_of_machine_and_container(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 100 kB\nMemAvailable:   8192 kB\n")
    assert available_memory(tmp_path) == 8192 * 1024
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("3000000\n")
    (tmp_path / "sys/fs/cgroup/memory.current").write_text("1000000\n")
    assert available_memory(tmp_path) == 2_000_000
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert available_memory(tmp_path) == 8192 * 1024


def test_a_machine_is_told_without_its_name_in_the_network() -> None:
    import platform

    machine = this_machine()
    assert machine.cores >= 1
    assert machine.torch == torch.__version__
    node = platform.node()
    assert not node or node not in (str(machine), machine.system, machine.name)
    assert str(Machine("cpu", "P", 2, None, "Linux", "2")) == "P, 2 cores, last-level cache unknown; Linux, torch 2"


def test_a_processor_is_named_with_family_and_model(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name\t: Some CPU\nmodel\t\t: 7\ncpu family\t: 6\nmodel name\t: Other\n")
    assert processor_name(tmp_path / "cpuinfo") == "Some CPU (family 6, model 7)"
    assert processor_name(tmp_path / "nothing")


def test_no_gpu_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(NoDevice, match="the GPU was not measured: "):
        this_machine("cuda")
    with pytest.raises(ValueError, match="device is 'cpu' or 'cuda'"):
        this_machine("tpu")


def test_a_gpu_is_told_by_its_own_name_and_l2(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    told = SimpleNamespace(name="NVIDIA H200", multi_processor_count=132, L2_cache_size=60 * MiB)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: told)
    machine = machine_module.this_machine("cuda")
    assert (machine.name, machine.cores, machine.cache_bytes) == ("NVIDIA H200", 132, 60 * MiB)
    assert "132 multiprocessors, L2 cache 60 MiB" in str(machine)


# Parts


def test_kernels_that_cannot_run_here_leave_a_sentence_and_no_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmserving.bandwidth import kernels, parts

    session = parts.Session(this_machine(), FakeClock(), plan_buffer("cpu", MiB, GiB), 128, 128, 20)
    operation = fake_operation(FakeClock())
    monkeypatch.setattr(kernels, "missing", lambda: "Triton is not installed here.")
    assert parts._kernels(session, "the GEMV kernels", lambda: [operation]) == []
    assert session.skipped == ["the GEMV kernels: skipped, for Triton is not installed here."]
    monkeypatch.setattr(kernels, "missing", lambda: None)
    assert parts._kernels(session, "the GEMV kernels", lambda: [operation]) == [operation]


def test_a_part_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmserving.bandwidth import parts, suite

    def fails(_: Any) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate\nmore")

    monkeypatch.setitem(parts.MEASURED, "sweep", fails)
    found = suite.measure_machine(parts=("memory", "sweep"), buffer_bytes=MiB, samples=2)
    assert found.skipped == ("sweep: skipped, for CUDA out of memory. Tried to allocate",)
    assert len(found.measurements) == 4
    with pytest.raises(ValueError, match="parts are memory, sweep, roofline, quantized, but got 'all'"):
        suite.measure_machine(parts=("all",))


def test_more_threads_than_cores_are_warned_of() -> None:
    from llmserving.bandwidth import suite

    found = suite.measure_machine(parts=(), threads=1000, buffer_bytes=MiB)
    assert any("1000 threads share" in remark for remark in found.remarks)
    assert torch.get_num_threads() < 1000
