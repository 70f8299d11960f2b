"""Our steps in nbgrader's pipeline, one a file, in the order they run."""

from grader.preprocessors.check_claims import CheckClaims
from grader.preprocessors.keep_one import KeepOneOfEach
from grader.preprocessors.prepare_release import PrepareRelease
from grader.preprocessors.read_scores import ReadScores
from grader.preprocessors.restore import RestoreFromRelease
from grader.preprocessors.run_answers import RunAnswers
from grader.preprocessors.show_rubrics import ShowRubrics

__all__ = [
    "CheckClaims", "KeepOneOfEach", "PrepareRelease", "ReadScores", "RestoreFromRelease", "RunAnswers", "ShowRubrics",
]  # fmt: skip
