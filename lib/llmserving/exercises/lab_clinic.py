"""The lab of level 5, the clinic: three servers, each with levers to choose, a prediction, and the choice to defend."""

from __future__ import annotations

from llmserving.exercises import lab_clinic_answers, lab_clinic_prompts, lab_clinic_single

EXERCISES_HERE = (lab_clinic_prompts.LAB5A_1, lab_clinic_answers.LAB5A_2, lab_clinic_single.LAB5A_3)
