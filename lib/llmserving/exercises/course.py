"""The course in order: levels, and the notebooks of each, with the minutes that reading and doing take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.exercise import Exercise


@dataclass(frozen=True)
class Notebook:
    """path: below notebooks/, without the ending. reading_minutes: what stands between the exercises."""

    path: str
    title: str
    reading_minutes: int

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(exercise for exercise in EXERCISES.values() if exercise.notebook == self.path)

    @property
    def minutes(self) -> int:
        return self.reading_minutes + sum(exercise.minutes for exercise in self.exercises)


@dataclass(frozen=True)
class Level:
    """labs: notebooks to build and measure in, beside the level. It is finished, and its minutes and points count, without
    them.
    """

    name: str
    title: str
    question: str
    notebooks: tuple[Notebook, ...]
    labs: tuple[Notebook, ...] = ()

    @property
    def exercises(self) -> Iterator[Exercise]:
        return (exercise for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def lab_exercises(self) -> Iterator[Exercise]:
        return (exercise for lab in self.labs for exercise in lab.exercises)

    @property
    def every_notebook(self) -> tuple[Notebook, ...]:
        """In the order in which they are listed: the labs come last."""
        return self.notebooks + self.labs

    @property
    def every_exercise(self) -> Iterator[Exercise]:
        return (exercise for notebook in self.every_notebook for exercise in notebook.exercises)

    @property
    def minutes(self) -> int:
        return sum(notebook.minutes for notebook in self.notebooks)

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)


LEVELS = (
    Level(
        "L1",
        "Recognition",
        "Which phase is this, which factor, which lever?",
        (
            Notebook("L1/two_phases", "Two phases", 12),
            Notebook("L1/kv_cache", "The KV cache", 9),
            Notebook("L1/three_levers", "Three levers", 10),
        ),
        labs=(Notebook("L1/lab_two_phases", "Lab: two phases on your machine", 12),),
    ),
    Level(
        "L2",
        "Application",
        "How many gigabytes, and how many requests fit?",
        (
            Notebook("L2/kv_size", "The size of the KV cache", 9),
            Notebook("L2/weights", "The size of the weights", 5),
        ),
        labs=(Notebook("L2/lab_kv_bytes", "Lab: the cache of real models", 10),),
    ),
    Level(
        "L3",
        "Analysis",
        "What is wasted, how far off is it, and which recipe pays?",
        (
            Notebook("L3/paging", "Paging", 13),
            Notebook("L3/quantization", "Quantization", 12),
            Notebook("L3/recipes", "Recipes", 12),
        ),
        labs=(
            Notebook("L3/lab_paging", "Lab: an allocator of your own", 16),
            Notebook("L3/lab_quantization", "Lab: quantize a model", 14),
        ),
    ),
    Level(
        "L4",
        "Synthesis",
        "Does it fit, for how many requests, and what would more memory buy?",
        (
            Notebook("L4/budget", "One GPU, one budget", 10),
            Notebook("L4/limits", "What more memory buys", 15),
        ),
        labs=(Notebook("L4/lab_planning", "Lab: plan a deployment", 15),),
    ),
    Level(
        "L5",
        "Mastery",
        "Which wall is it, and which lever is for that wall?",
        (
            Notebook("L5/clinic", "Which wall, which lever", 16),
            Notebook("L5/what_next", "What comes next", 12),
        ),
        labs=(
            Notebook("L5/lab_clinic", "Lab: the serving clinic", 12),
            Notebook("L5/lab_faults", "Lab: five that are broken", 14),
        ),
    ),
)
