"""A class that was graded once, made once for all the tests of what comes after."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from grader.class_folder import ClassFolder, open_class_folder
from grader.release import release

from tests.grader.submissions import graded, hand_in, in_own_words, new_class, right, small_course, then


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> ClassFolder:
    """A class in which ada writes in her own words, bob does not, and what cem has handed in is torn; graded once."""
    course = small_course(tmp_path_factory.mktemp("course"), "L1/two_phases")
    folder = new_class(tmp_path_factory.mktemp("classes") / "class", course)
    release(folder, ["L1"], own_words=2)
    hand_in(folder.root, "ada", "L1", {"two_phases": then(right(), in_own_words())})
    hand_in(folder.root, "bob", "L1", {"two_phases": right()})
    (hand_in(folder.root, "cem", "L1", {}) / "two_phases.ipynb").write_text('{"cells": [')
    graded(folder)
    return folder


@pytest.fixture
def folder(made: ClassFolder, tmp_path: Path) -> ClassFolder:
    """A copy of that class, to be changed."""
    shutil.copytree(made.root, tmp_path / "class")
    return open_class_folder(tmp_path / "class")
