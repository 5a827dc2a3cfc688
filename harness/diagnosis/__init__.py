"""Which known flaws give exactly the answers of a submission?"""

from harness.diagnosis.diagnosis import diagnose, is_proven, unexplained

__all__ = [
    "diagnose",
    "is_proven",
    "unexplained",
]
