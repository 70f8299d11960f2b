"""What a class folder's nbgrader_config.py sets: stock nbgrader, but for our preprocessors and the CSV export."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from llmserving.exercises.recordings import RECORDINGS_FILE
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader import preprocessors as stock
from sqlalchemy.exc import SAWarning

from grader.course import levels_in
from grader.export import SafeCsvExport
from grader.preprocessors import (
    CheckClaims,
    KeepOneOfEach,
    PrepareRelease,
    ReadScores,
    RestoreFromRelease,
    RunAnswers,
    ShowRubrics,
)
from grader.student_version import CODE_STUB


def configure(c: Any, config_file: str, notebooks: str) -> None:
    """Set up `c`, nbgrader's configuration, for the class folder that `config_file` lies in.

    notebooks: the course's notebooks, which are nbgrader's source directory.
    """
    _find_commands_of_this_environment()
    # nbgrader's own queries, and nbformat mending ids as it reads (keep_one_of_each says what became of copies): nothing
    # that an instructor could act on.
    for category in (SAWarning, DuplicateCellId, MissingIDFieldWarning):
        warnings.filterwarnings("ignore", category=category)
    c.CourseDirectory.root = str(Path(config_file).resolve().parent)
    c.CourseDirectory.source_directory = notebooks
    c.ClearSolutions.code_stub = CODE_STUB
    c.GenerateAssignment.preprocessors = [
        stock.IncludeHeaderFooter,
        stock.InstantiateTests,
        stock.LockCells,
        stock.ClearSolutions,
        stock.ClearOutput,
        PrepareRelease,
        stock.CheckCellMetadata,
        stock.ComputeChecksums,
        stock.SaveCells,
        stock.ClearHiddenTests,
        stock.ClearMarkScheme,
        stock.ComputeChecksums,
        stock.CheckCellMetadata,
    ]
    c.GenerateAssignment.post_convert_hook = "grader.releases.finish_release"
    c.Autograde.sanitize_preprocessors = [
        CheckClaims,
        KeepOneOfEach,
        RestoreFromRelease,
        stock.ClearOutput,
        stock.OverwriteKernelspec,
        stock.CheckCellMetadata,
    ]
    c.Autograde.autograde_preprocessors = [
        RunAnswers,
        ReadScores,
        ShowRubrics,
        stock.IgnorePattern,
        ClearMetadataPreprocessor,
        stock.LimitOutput,
        stock.SaveAutoGrades,
        stock.AssignLatePenalties,
        stock.CheckCellMetadata,
    ]
    # What lies beside the course's notebooks may be the instructor's own recordings; a learner's are never put in their place.
    c.Autograde.exclude_overwriting = {level: [RECORDINGS_FILE] for level in levels_in(Path(notebooks))}
    c.ExportApp.plugin_class = SafeCsvExport


def _find_commands_of_this_environment() -> None:
    """nbgrader makes its gradebook by calling `alembic`, which an environment that is not activated does not find."""
    commands = str(Path(sys.executable).parent)
    if commands not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([commands, os.environ.get("PATH", "")])
