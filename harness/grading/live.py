"""Functions and classes of this process, checked where they are: a candidate's own notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.candidate import (
    LiveSession,
    SubmissionFacts,
    level_reached,
    possible_points,
    restore_credit,
    run_checks,
    verdict,
)
from harness.diagnosis import is_proven
from harness.grading.cause import find_cause
from harness.grading.grading import FailureDetails, explain_failure
from harness.results import Card, Environment, SubmissionResult, Verdict
from harness.sandbox import Limits
from harness.spec import Spec


def grade_objects(
    objects: Mapping[str, Any],
    spec: Spec,
    seed: str,
    environment: Environment,
    limits: Limits,
) -> Card:
    """Run the checks that need no other entry points than these, by their names in the brief.

    Nothing is isolated; calls that do not end are interrupted.
    """
    defined = frozenset(objects)
    spec = spec.only(defined)
    known = SubmissionFacts()
    session = LiveSession(objects, arrays=spec.arrays, limits=limits)
    checks, recording = run_checks(spec, session, seed, defined, known)
    came_to = verdict(checks)
    finding = None
    if came_to is not Verdict.INVALID:
        finding = find_cause(spec, checks, recording, defined)
    if finding is not None:
        checks = finding.folded(checks)
        found = FailureDetails((finding.flaw.diagnosis(),) if finding.flaw else ())
    else:
        found = explain_failure(spec, recording, checks, seed)
        if is_proven(spec, found.diagnosis):
            checks = restore_credit(checks)
    result = SubmissionResult(
        id=", ".join(objects),
        spec=spec.name,
        sha256="",
        verdict=came_to,
        cause=finding.cause if finding else None,
        level=level_reached(checks),
        earned=None if came_to is Verdict.INVALID else sum(check.earned for check in checks),
        possible=possible_points(checks),
        diagnosis=found.diagnosis,
        conventions=known.conventions,
        notes=found.notes,
        checks=checks,
    )
    card = Card(spec=spec.name, title=spec.title, environment=environment, result=result)
    return msgspec.structs.replace(card, evidence=found.evidence)
