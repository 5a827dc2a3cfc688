"""What people write about submissions: decisions, notes and marks, beside what the machine found.

Each is appended with its reviewer and time, and none replaces an earlier one: what holds is the
last that a reviewer has written. All are kept by a submission's id, also when its card is gone.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from harness.results import Verdict

#: The point of a mark on the form as a whole: it has been read to its end.
WHOLE_FORM: Final = ""
#: What a mark may give a key point.
SHARES: Final = (0.0, 0.5, 1.0)


class Choice(enum.StrEnum):
    """What is to become of a candidate."""

    ADVANCE = "advance"
    HOLD = "hold"
    REJECT = "reject"
    UNDECIDED = "undecided"  #: takes an earlier choice back


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer's choice, and a verdict that overrides the machine's, with the reason."""

    submission: str
    reviewer: str
    time: str  #: ISO 8601 with an offset
    choice: Choice = Choice.UNDECIDED
    verdict: Verdict | None = None  #: in place of the machine's; None leaves that as it is
    reason: str = ""  #: asked for where ``verdict`` is given
    sha256: str = ""  #: of the submission that was looked at


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What a reviewer remarks about a submission, or about one question or check of it."""

    submission: str
    reviewer: str
    time: str  #: ISO 8601 with an offset
    text: str
    about: str = ""  #: id of a question or check; "" for the submission as a whole
    sha256: str = ""  #: of the submission that was looked at


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a key point a written answer has, or that its form was read to the end."""

    submission: str
    reviewer: str
    time: str  #: ISO 8601 with an offset
    point: str  #: id of the key point, or ``WHOLE_FORM``
    share: float | None  #: one of ``SHARES``; None takes an earlier mark back
    sha256: str = ""  #: of the submission that was looked at


Entry = Decision | Note | Mark
