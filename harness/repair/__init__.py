"""The smallest edit of the candidate's own source that makes every check pass."""

from harness.repair.finder import RepairFinder, is_explained, is_failing

__all__ = [
    "RepairFinder",
    "is_explained",
    "is_failing",
]
