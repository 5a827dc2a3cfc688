"""Which known flaws give exactly the answers of a submission?"""

from harness.diagnosis.diagnosis import diagnose, unexplained

__all__ = [
    "diagnose",
    "unexplained",
]
