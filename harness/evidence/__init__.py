"""What a card shows beside a check: the smallest failing call, and pictures of it."""

from harness.evidence.evidence import gather

__all__ = [
    "gather",
]
