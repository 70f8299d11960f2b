"""The answer key, and the instructor's commands around nbgrader."""
