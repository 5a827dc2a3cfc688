"""Marks of written answers: what follows from them, and in which order to read.

A page that is served for marking uses it so:

1. ``sheets(cards, seed)`` gives one ``Sheet`` per question that a person reads, in the order of the
   form: the question with its key points, and the answers of all submissions to it, shuffled and
   without names. Each answer has a ``key`` instead, which is another one for every question; the
   page sends the key, and ``sheet.submission(key)`` tells on the server whose it is.
   Blank answers are not among them: they are settled as 0, and ``sheet.blank`` counts them.
2. A click becomes a ``harness.reviews.Mark`` with the share 0, 0.5 or 1 of a key point, or a
   ``Note`` about the number of the question; both are appended to ``harness.grading.Reviews``.
   When ``unread(cards, markings)`` is 0 for a submission, its form was read to the end, which is
   a ``Mark`` on ``WHOLE_FORM`` with the share 1.
3. ``markings([*reviews.marks(), *reviews.notes()])`` makes of all entries one ``Marking`` per
   submission, in which the last entry on a point counts, and ``fold(card, marking)`` the card with
   marks, score and verdict.
"""

from __future__ import annotations

from harness.marking.folding import SHARE, fold
from harness.marking.marks import Marking, markings
from harness.marking.sheets import Anonymous, Sheet, sheets, unread

__all__ = [
    "SHARE",
    "Anonymous",
    "Marking",
    "Sheet",
    "fold",
    "markings",
    "sheets",
    "unread",
]
