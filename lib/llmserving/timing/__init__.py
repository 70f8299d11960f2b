"""Timing that knows when it was disturbed: samples, the clocks that take them, and runs that take turns."""

from llmserving.timing.clocks import Clock, FakeClock, HostClock
from llmserving.timing.samples import Samples
from llmserving.timing.threads import torch_threads
from llmserving.timing.turns import take_turns

__all__ = ["Clock", "FakeClock", "HostClock", "Samples", "take_turns", "torch_threads"]
