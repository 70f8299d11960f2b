"""Continuous batching: who runs in the next step, what that buys, and real traces to try it on.

`help(Policy)` says all that a scheduler of one's own needs.
"""

from llmserving.scheduling.arrivals import bursty_arrivals, poisson_arrivals
from llmserving.scheduling.engine import Engine
from llmserving.scheduling.play import play_schedule
from llmserving.scheduling.playback import Noted, PlayedStep, ScheduleMoment, SchedulePlayback
from llmserving.scheduling.policies import ChunkedPrefill, ContinuousBatching
from llmserving.scheduling.policy import Policy
from llmserving.scheduling.prefix_reuse import prefix_hit_rate
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.reservation import used_share, used_share_paged
from llmserving.scheduling.rules import BrokenRuleError
from llmserving.scheduling.scenarios import (
    LONG_PROMPT_ARRIVES,
    SCENARIOS,
    SHORT_AND_LONG_ANSWERS,
    SHORT_BEHIND_LONG,
    TWO_AND_A_FULL_POOL,
    Scenario,
)
from llmserving.scheduling.sequence import Sequence
from llmserving.scheduling.served import Served, Spread
from llmserving.scheduling.simulate import Simulation, simulate
from llmserving.scheduling.static_batching import DynamicBatching, StaticBatching
from llmserving.scheduling.step_clock import StepClock
from llmserving.scheduling.summary import Summary
from llmserving.scheduling.traces import azure_trace, mooncake_trace
from llmserving.scheduling.workload import synthetic_workload
from llmserving.scheduling.workload_statistics import statistics

__all__ = [
    "LONG_PROMPT_ARRIVES", "SCENARIOS", "SHORT_AND_LONG_ANSWERS", "SHORT_BEHIND_LONG", "TWO_AND_A_FULL_POOL", "BrokenRuleError",
    "ChunkedPrefill", "ContinuousBatching", "DynamicBatching", "Engine", "Noted", "PlayedStep", "Policy", "Request", "Scenario",
    "ScheduleMoment", "SchedulePlayback", "Sequence", "Served", "Simulation", "Spread", "StaticBatching", "StepClock",
    "Summary", "Workload", "azure_trace", "bursty_arrivals", "mooncake_trace", "play_schedule", "poisson_arrivals",
    "prefix_hit_rate", "simulate", "statistics", "synthetic_workload", "used_share", "used_share_paged",
]  # fmt: skip
