"""Key of the fault lab: found and mended, class by class."""

from __future__ import annotations

from llmserving.exercises import lab_faults

from grader.answer_key import lab_faults_found as found
from grader.answer_key import lab_faults_mended as mended
from grader.answer_key.key import ChoiceKey, Key, ValueKey
from grader.answer_key.lab_keys import ObjectKey

_ROWS: tuple[tuple[tuple[ChoiceKey, ValueKey], ObjectKey], ...] = (
    (found.ASH, mended.ASH), (found.BIRCH, mended.BIRCH), (found.CEDAR, mended.CEDAR), (found.ELM, mended.ELM),
    (found.FIR, mended.FIR),
)  # fmt: skip

KEYS_HERE = tuple(
    Key(exercise, {"fault": fault, "event": event, "mended": mend})
    for exercise, ((fault, event), mend) in zip(lab_faults.EXERCISES_HERE, _ROWS, strict=True)
)
