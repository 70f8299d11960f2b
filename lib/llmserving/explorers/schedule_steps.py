"""Step through a schedule, forward and back, with a policy of the course or the learner's own scheduler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmserving.explorers.live import View
from llmserving.explorers.schedule_words import listed_steps, told
from llmserving.explorers.steps import StepExplorer
from llmserving.figures import LessonFigure, schedule_state
from llmserving.hardware import Gpu
from llmserving.models import ModelSpec
from llmserving.scheduling.play import play_schedule
from llmserving.scheduling.playback import ScheduleMoment, SchedulePlayback
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import TWO_AND_A_FULL_POOL, Scenario


class ScheduleExplorer(StepExplorer[ScheduleMoment]):
    """A schedule at one moment of a playback; `.playback` is the whole, `.controls["moment"].value` the moment."""

    def __init__(self, playback: SchedulePlayback) -> None:
        self.playback = playback
        super().__init__(playback.moments, "Event")

    def look_at(self, moment: ScheduleMoment) -> View:
        return View(self._drawn(moment), self.tell(moment), listed_steps(self.playback, moment))

    def tell(self, moment: ScheduleMoment) -> str:
        return told(self.playback, moment)

    def _drawn(self, moment: ScheduleMoment) -> LessonFigure:
        if not self.playback.noted:  # it ended before anything happened
            return LessonFigure(1, 1, "No request has arrived, so there is nothing to draw.")
        return schedule_state(self.playback.events, self.playback.memory.num_blocks, moment.events)


def schedule_explorer(
    workload: Scenario | Workload | Iterable[Request] = TWO_AND_A_FULL_POOL,
    policy: Any = "continuous",
    model: ModelSpec | str = "llama-2-13b",
    gpu: Gpu | str = "a100-80gb",
    *,
    num_blocks: Any = None,
    block_size: Any = None,
    allocator: Any = None,
    **settings: Any,
) -> ScheduleExplorer:
    """An explorer of a schedule's events; where a rule breaks it ends, and its last sentence says which.

    policy: "static", "dynamic", "continuous" or "chunked", or the learner's own scheduler: a class or a function, called without
    arguments, or an object with `schedule(engine)`. All arguments are those of `play_schedule`.
    """
    return ScheduleExplorer(
        play_schedule(
            workload, policy, model, gpu, num_blocks=num_blocks, block_size=block_size, allocator=allocator, **settings
        )
    )
