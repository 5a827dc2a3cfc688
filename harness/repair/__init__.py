"""The smallest edit of the candidate's own source that makes every check pass."""

from harness.repair.finder import Mender

__all__ = [
    "Mender",
]
