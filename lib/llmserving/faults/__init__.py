"""Four allocators and a scheduler that are broken on purpose, each in one method, for the lab that finds and mends them.

Nothing else in the course uses them. Each comes with what it is played through, and `trace` shows what came of it without a
verdict:

    from llmserving.faults import ASH_DAY, Ash, trace
    trace(ASH_DAY, Ash)

`llmserving.paging.play(ASH_DAY, Ash)` and `llmserving.scheduling.play_schedule(FIR_DAY, Fir)` name what is broken first.
"""

from llmserving.faults.ash import Ash
from llmserving.faults.birch import Birch
from llmserving.faults.cedar import Cedar
from llmserving.faults.days import ASH_DAY, BIRCH_DAY, CEDAR_DAY, ELM_DAY, FIR_DAY
from llmserving.faults.elm import Elm
from llmserving.faults.fir import Fir
from llmserving.faults.trace import Row, Trace, trace

__all__ = [
    "ASH_DAY", "BIRCH_DAY", "CEDAR_DAY", "ELM_DAY", "FIR_DAY", "Ash", "Birch", "Cedar", "Elm", "Fir", "Row", "Trace", "trace",
]  # fmt: skip
