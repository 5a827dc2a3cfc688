"""From deliveries to cards: one submission, and a batch of them."""

from harness.grading.batch import Jobs, Pending, Watcher, grade_all
from harness.grading.cluster import DaskWorkers, is_local
from harness.grading.executors import LocalProcesses
from harness.grading.grader import Grader
from harness.grading.grading import (
    Assignment,
    find_interface,
    grade,
    grade_submission,
    unscored,
)
from harness.grading.ledger import Ledger
from harness.grading.ledger_file import FILE as LEDGER
from harness.grading.ledger_reader import LedgerReader, PastResult
from harness.grading.live import grade_objects
from harness.grading.record import BatchRecord
from harness.grading.reviews import Reviews
from harness.grading.task import Task, card_key
from harness.grading.terms import Terms, expect_usable, settle

__all__ = [
    "LEDGER",
    "Assignment",
    "BatchRecord",
    "DaskWorkers",
    "Grader",
    "Jobs",
    "Ledger",
    "LedgerReader",
    "LocalProcesses",
    "PastResult",
    "Pending",
    "Reviews",
    "Task",
    "Terms",
    "Watcher",
    "card_key",
    "expect_usable",
    "find_interface",
    "grade",
    "grade_all",
    "grade_objects",
    "grade_submission",
    "is_local",
    "settle",
    "unscored",
]
