"""Claims about samples and clocks, on a fake clock: what is quiet, what is a figure, and what there is none for."""

from __future__ import annotations

import time
from typing import Any

import pytest
from llmserving.timing import FakeClock, HostClock, Samples, take_turns
from llmserving.timing.cuda_clock import CudaClock


def samples(walls: list[float], busies: list[float] | None = None, threads: int = 1) -> Samples:
    return Samples(tuple(walls), None if busies is None else tuple(busies), threads)


def test_best_and_median_are_those_of_the_undisturbed_samples_alone() -> None:
    walls = [2.0] * 12 + [1.0] * 8
    taken = samples(walls, [1.9] * 6 + [1.0] * 6 + [0.99] * 4 + [0.5] * 4)
    assert taken.quiet == (2.0,) * 6 + (1.0,) * 4
    assert taken.quiet_share == 0.5
    assert (taken.verdict, taken.best, taken.median) == ("ok", 1.0, 2.0)


def test_a_fast_sample_that_was_disturbed_is_no_best() -> None:
    assert samples([1.0] * 19 + [0.5], [1.0] * 19 + [0.2]).best == 1.0


@pytest.mark.parametrize(("quiet", "verdict"), [(20, "ok"), (4, "ok"), (3, "DISTURBED"), (0, "DISTURBED")])
def test_under_a_fifth_of_undisturbed_samples_there_is_a_verdict_and_no_number(quiet: int, verdict: str) -> None:
    taken = samples([1.0] * 20, [1.0] * quiet + [0.5] * (20 - quiet))
    assert taken.verdict == verdict
    assert (taken.best is None, taken.median is None) == (verdict != "ok", verdict != "ok")


def test_under_twenty_samples_there_is_no_number_either() -> None:
    assert (samples([1.0] * 19, [1.0] * 19).verdict, samples([1.0] * 19, [1.0] * 19).best) == ("TOO FEW", None)


def test_two_threads_must_both_have_had_their_core() -> None:
    assert samples([1.0] * 20, [2.0] * 20, threads=2).verdict == "ok"
    assert samples([1.0] * 20, [1.4] * 20, threads=2).verdict == "DISTURBED"


def test_without_busy_times_a_sample_near_the_fastest_counts() -> None:
    assert samples([1.0] * 5 + [1.05] * 5 + [2.0] * 10).quiet_share == 0.5
    assert samples([1.0] * 3 + [2.0] * 17).verdict == "DISTURBED"


def test_a_drift_is_told_and_a_steady_run_has_none() -> None:
    drifting = [1.0 + 0.03 * index for index in range(20)]
    assert samples(drifting, drifting).drift == pytest.approx(1.435 / 1.135 - 1)
    assert samples(drifting, drifting).drifts
    assert not samples([1.0] * 20, [1.0] * 20).drifts
    assert samples([1.0] * 20, [0.1] * 20).drift is None


def test_cpu_time_is_known_for_one_thread_only() -> None:
    assert samples([3.0, 2.0], [1.0, 1.1]).core_seconds == 1.0
    assert samples([3.0, 2.0], [1.0, 1.1], threads=2).core_seconds is None
    assert samples([3.0, 2.0]).core_seconds is None


@pytest.mark.parametrize(
    ("walls", "busies", "words"),
    [
        ([], None, "walls is empty"),
        ([1.0], [1.0, 2.0], "there are 1 wall times, but 2 busy"),
        ([0.0], None, "walls are seconds above 0"),
        ([float("nan")], None, "walls are seconds above 0"),
        ([1.0], [-1.0], "busies are seconds"),
    ],
)
def test_what_are_no_samples_is_refused(walls: list[float], busies: list[float] | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        samples(walls, busies)


def test_a_fake_clock_passes_only_by_what_is_said() -> None:
    clock = FakeClock(stolen=(0.5,))
    first = clock.time(lambda: clock.advance(1.0))
    second = clock.time(lambda: clock.advance(2.0))
    assert (first, second) == ((1.5, 1.0), (2.0, 2.0))
    assert FakeClock(tells_busy=False).time(lambda: None).busy is None
    both = FakeClock(threads=2)
    assert both.time(lambda: both.advance(1.0)) == (1.0, 2.0)


def test_sleeping_is_not_being_busy() -> None:
    asleep = HostClock().time(lambda: time.sleep(0.05))
    assert asleep.wall >= 0.05
    assert asleep.busy is not None
    assert asleep.busy < 0.5 * asleep.wall


def test_several_threads_are_timed_by_the_whole_process() -> None:
    assert HostClock(2)._busy is time.process_time
    assert HostClock(1)._busy is time.thread_time


def test_where_cpu_time_is_too_coarse_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert HostClock().time(lambda: None).busy is None


def test_runs_take_turns_and_the_first_round_does_not_count() -> None:
    clock, seen = FakeClock(), []

    def turn(name: str, seconds: float) -> Any:
        def run(index: int) -> None:
            seen.append((name, index))
            clock.advance(100.0 if index == 0 else seconds)

        return run

    taken = take_turns({"a": turn("a", 1.0), "b": turn("b", 2.0)}, 2, clock)
    assert seen == [(name, index) for index in range(3) for name in ("a", "b")]
    assert (taken["a"].walls, taken["b"].walls) == ((1.0, 1.0), (2.0, 2.0))


class FakeCuda:
    """What CudaClock uses of torch.cuda; kernels take `kernel_ms` once launched, and holding the stream takes time too."""

    def __init__(self, kernel_ms: float) -> None:
        self.stream_ms, self.kernel_ms, self.log = 0.0, kernel_ms, list[str]()
        cuda = self

        class Event:
            def __init__(self, *, enable_timing: bool) -> None:
                assert enable_timing
                self.at = 0.0

            def record(self) -> None:
                cuda.log.append("record")
                self.at = cuda.stream_ms

            def elapsed_time(self, end: Any) -> float:
                return float(end.at - self.at)

        self.Event = Event

    def launch(self) -> None:
        self.log.append("launch")
        self.stream_ms += self.kernel_ms

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def _sleep(self, cycles: int) -> None:
        self.log.append("hold")
        self.stream_ms += 1.0


def test_a_gpu_s_sample_lies_between_two_events_behind_a_hold() -> None:
    cuda = FakeCuda(kernel_ms=0.25)
    clock = CudaClock(cuda)

    def work() -> None:
        for _ in range(clock.least_calls):
            cuda.launch()

    assert clock.least_calls >= 10
    sample = clock.time(work)
    assert sample.wall == pytest.approx(2.5e-3)
    assert sample.busy is None
    assert cuda.log == ["synchronize", "hold", "record", *["launch"] * 10, "record", "synchronize"]
