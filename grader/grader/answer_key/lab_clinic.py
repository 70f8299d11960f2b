"""Key of the clinic, the lab of level 5: one key a case."""

from __future__ import annotations

from grader.answer_key import lab_clinic_answers, lab_clinic_prompts, lab_clinic_single

KEYS_HERE = (lab_clinic_prompts.LAB5A_1, lab_clinic_answers.LAB5A_2, lab_clinic_single.LAB5A_3)
