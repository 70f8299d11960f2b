"""What a log of events says: the state after each of them, and the curves over time. Nothing but the log is asked."""

from llmserving.replay.kept import kept_until
from llmserving.replay.log import LogError, request_name
from llmserving.replay.pool import PoolState, replay_pool
from llmserving.replay.schedule import ScheduleState, replay_schedule
from llmserving.replay.sentence import sentence
from llmserving.replay.series import Series, ServingSeries, serving_series
from llmserving.replay.spans import RequestSpans, Span, request_spans

__all__ = [
    "LogError", "PoolState", "RequestSpans", "ScheduleState", "Series", "ServingSeries", "Span", "kept_until",
    "replay_pool", "replay_schedule", "request_name", "request_spans", "sentence", "serving_series",
]  # fmt: skip
