"""Four allocators and a scheduler that are broken on purpose, each in one method, for the lab that finds and mends them.

Nothing else in the course uses them. Each comes with what it is played through, and `trace` shows what came of it without a
verdict:

    from llmserving.faults import Ash, ash_day, trace
    trace(ash_day(), Ash)

`llmserving.paging.play(ash_day(), Ash)` and `llmserving.scheduling.play_schedule(fir_day(), Fir)` name what is broken first.
"""

from llmserving.faults.ash import Ash
from llmserving.faults.birch import Birch
from llmserving.faults.cedar import Cedar
from llmserving.faults.days import (
    ASH_DAY,
    BIRCH_DAY,
    CEDAR_DAY,
    ELM_DAY,
    FIR_DAY,
    ash_day,
    birch_day,
    cedar_day,
    elm_day,
    fir_day,
)
from llmserving.faults.elm import Elm
from llmserving.faults.fir import Fir
from llmserving.faults.trace import Row, Trace
from llmserving.faults.tracing import trace

__all__ = [
    "ASH_DAY", "BIRCH_DAY", "CEDAR_DAY", "ELM_DAY", "FIR_DAY", "Ash", "Birch", "Cedar", "Elm", "Fir", "Row", "Trace",
    "ash_day", "birch_day", "cedar_day", "elm_day", "fir_day", "trace",
]  # fmt: skip
