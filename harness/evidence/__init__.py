"""What a card shows beside a check: the smallest failing call, and pictures of it."""

from harness.evidence.evidence import expectation, gather

__all__ = [
    "expectation",
    "gather",
]
