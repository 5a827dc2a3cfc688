"""How a submission spells what the brief asks: names, orders, masks, layouts."""

from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.convention import Convention
from harness.conventions.definitions import deviations
from harness.conventions.inference import infer

__all__ = [
    "AdaptingSession",
    "Convention",
    "deviations",
    "infer",
]
