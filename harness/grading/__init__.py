"""From deliveries to cards: one submission, and a batch of them."""

from harness.grading.batch import Slots, grade_all
from harness.grading.grading import Assignment, Mend, grade, grade_submission, read

__all__ = [
    "Assignment",
    "Mend",
    "Slots",
    "grade",
    "grade_all",
    "grade_submission",
    "read",
]
