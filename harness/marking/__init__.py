"""Marks of written answers: what reviewers enter, what follows from it, and in which order to read.

A page that is served for marking uses it so:

1. ``sheets(cards, seed)`` gives one ``Sheet`` per question that a person reads, in the order of the
   form: the question with its key points, and the answers of all submissions to it, shuffled and
   without names. Each answer has a ``key`` instead, which is another one for every question; the
   page sends the key, and ``sheet.submission(key)`` tells on the server whose it is.
   Blank answers are not among them: they are settled as 0, and ``sheet.blank`` counts them.
2. A click becomes an entry: ``Mark(submission=…, point="8.1", value=0.5, reviewer=…, at=…)``, a
   ``Note`` on a question, or ``Reading(…, reviewed=True)`` when a form was read to its end, which
   ``unread(cards, markings)`` tells. Entries are appended, never replaced: ``encode(entry)`` and
   ``decode(row)`` are their JSON.
3. ``markings(entries)`` makes of all entries one ``Marking`` per submission, in which the latest
   entry on a point counts, and ``fold(card, marking)`` the card with marks, score and verdict.
"""

from __future__ import annotations

from harness.marking.folding import SHARE, fold
from harness.marking.marks import (
    Entry,
    Mark,
    Marking,
    Note,
    Reading,
    decode,
    encode,
    markings,
)
from harness.marking.sheets import Anonymous, Sheet, sheets, unread

__all__ = [
    "SHARE",
    "Anonymous",
    "Entry",
    "Mark",
    "Marking",
    "Note",
    "Reading",
    "Sheet",
    "decode",
    "encode",
    "fold",
    "markings",
    "sheets",
    "unread",
]
