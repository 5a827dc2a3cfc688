"""From a path to the checked bytes of submissions; nothing of them is run."""

from harness.intake.decoding import decode_python
from harness.intake.deliveries import Batch, Delivery, collect
from harness.intake.naming import identifier, slug
from harness.intake.newer_syntax import python_needed
from harness.intake.source_tree import SourceFile
from harness.intake.submission import Submission

__all__ = [
    "Batch",
    "Delivery",
    "SourceFile",
    "Submission",
    "collect",
    "decode_python",
    "identifier",
    "python_needed",
    "slug",
]
