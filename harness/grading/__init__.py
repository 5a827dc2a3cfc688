"""From deliveries to cards: one submission, and a batch of them."""

from harness.grading.batch import Slots, grade_all
from harness.grading.grading import Assignment, FindRepair, find_interface, grade, grade_submission

__all__ = [
    "Assignment",
    "FindRepair",
    "Slots",
    "find_interface",
    "grade",
    "grade_all",
    "grade_submission",
]
