"""What checks talk to: a submission as functions and classes, behind recorded calls."""

from harness.candidate.checks import (
    level_reached,
    possible_points,
    restore_credit,
    run_check,
    run_checks,
    verdict,
)
from harness.candidate.classes import ClassProxy
from harness.candidate.functions import (
    Candidate,
    Recorded,
    Session,
    SubmissionFacts,
    is_array,
    undefined_message,
)
from harness.candidate.layer import Layer
from harness.candidate.live_session import LiveSession
from harness.candidate.question_sheet import QuestionSheet
from harness.candidate.session import (
    Definition,
    DirectSession,
    LoadReport,
    Parameter,
    SandboxSession,
)

__all__ = [
    "Candidate",
    "ClassProxy",
    "Definition",
    "DirectSession",
    "Layer",
    "LiveSession",
    "LoadReport",
    "Parameter",
    "QuestionSheet",
    "Recorded",
    "SandboxSession",
    "Session",
    "SubmissionFacts",
    "is_array",
    "level_reached",
    "possible_points",
    "restore_credit",
    "run_check",
    "run_checks",
    "undefined_message",
    "verdict",
]
