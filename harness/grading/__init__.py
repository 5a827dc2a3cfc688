"""From deliveries to cards: one submission, and a batch of them."""

from harness.grading.batch import Jobs, Pending, grade_all
from harness.grading.executors import LocalProcesses
from harness.grading.grader import Grader
from harness.grading.grading import (
    Assignment,
    FindRepair,
    find_interface,
    grade,
    grade_submission,
    unscored,
)
from harness.grading.ledger import Ledger
from harness.grading.reviews import Reviews
from harness.grading.task import Task, card_key

__all__ = [
    "Assignment",
    "FindRepair",
    "Grader",
    "Jobs",
    "Ledger",
    "LocalProcesses",
    "Pending",
    "Reviews",
    "Task",
    "card_key",
    "find_interface",
    "grade",
    "grade_all",
    "grade_submission",
    "unscored",
]
