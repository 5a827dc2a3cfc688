"""The smallest edit of the candidate's own source that makes every check pass."""

from harness.repair.finder import RepairFinder

__all__ = [
    "RepairFinder",
]
