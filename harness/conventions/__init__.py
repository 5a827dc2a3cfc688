"""How a submission spells what the brief asks: names, orders, masks, layouts."""

from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.convention import Convention
from harness.conventions.definitions import deviations
from harness.conventions.inference import infer
from harness.conventions.library import InSingle, library_of

__all__ = [
    "AdaptingSession",
    "Convention",
    "InSingle",
    "deviations",
    "infer",
    "library_of",
]
