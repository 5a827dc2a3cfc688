"""Runs the checks of a spec against one loaded submission, and counts what they earn."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from harness.candidate.functions import Candidate, Recorded, Session, SubmissionFacts
from harness.candidate.question_sheet import Dialogue, QuestionSheet
from harness.candidate.session import DirectSession
from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateRaised,
    CandidateTimedOut,
    CheckFailed,
    NotMeasured,
    NotOffered,
    OutOfResources,
    ProtocolViolation,
    SandboxBroken,
    SubmissionEnded,
    Unread,
)
from harness.results import LEVELS, CheckResult, Level, Outcome, Points, Verdict
from harness.spec import Check, Draw, Judge, Spec
from harness.text import one_line

#: What the submission did -> the outcome of the check during which it did it.
OUTCOMES: dict[type[CandidateError], Outcome] = {
    CandidateRaised: Outcome.RAISED,
    CandidateTimedOut: Outcome.TIMED_OUT,
    OutOfResources: Outcome.OUT_OF_RESOURCES,
    CandidateCrashed: Outcome.CRASHED,
    ProtocolViolation: Outcome.PROTOCOL_VIOLATION,
    SubmissionEnded: Outcome.NOT_RUN,
    NotMeasured: Outcome.NOT_APPLICABLE,
    Unread: Outcome.NOT_APPLICABLE,
}


def run_checks(
    spec: Spec,
    session: Session,
    seed: str,
    defined: frozenset[str] | None = None,
    known: SubmissionFacts | None = None,
    sheet: QuestionSheet | None = None,
    follow: Callable[[CheckResult], None] = lambda result: None,
) -> tuple[tuple[CheckResult, ...], list[Recorded]]:
    """Run every check of the spec and return the results, and the recording of all calls.

    ``defined`` names what the submission defines, where that is known; ``known`` is filled with
    what is found out about it on the way. ``sheet`` serves all submissions of one seed; ``follow``
    is told of each check when it has ended.

    Raises:
        SandboxBroken: the sandbox failed; nothing is scored.
    """
    candidate = Candidate(spec, session, defined, known)
    results = []
    for check in spec.checks:
        results.append(run_check(check, spec, candidate, seed, sheet))
        follow(results[-1])
    return credit(spec, results), candidate.recording


def run_check(
    check: Check,
    spec: Spec,
    candidate: Candidate,
    seed: str,
    sheet: QuestionSheet | None = None,
) -> CheckResult:
    """Run one check. Where it breaks on the reference, too, it is ``invalid``: the defect is ours.

    Where it breaks on this submission alone, the answer is one that no check can judge: failed.
    Where an error is borderline, what the seed draws does not decide: the spec's own inputs do.
    """
    began = time.monotonic()
    ended = _ended(check, spec, candidate, seed, _asked(check, spec, candidate, seed, sheet))
    if ended.is_borderline:
        ended = _decided_again(check, spec, candidate)
    outcome, error, passed = ended.outcome, ended.error, ended.outcome is Outcome.PASSED
    return CheckResult(
        id=check.id,
        title=check.criterion.title,
        outcome=outcome,
        level=check.level,
        facet=check.criterion.facet,
        points=check.points,
        earned=check.points if passed else 0,
        message=ended.message,
        hint="" if passed else check.criterion.hint,
        note="; ".join(ended.notes),
        seconds=round(time.monotonic() - began, 4),
        line=error.line if isinstance(error, CandidateRaised) else None,
        file=error.file if isinstance(error, CandidateRaised) else "",
        mismatch=error.mismatch if isinstance(error, CheckFailed) else None,
        stage=check.criterion.stage,
        question="" if passed else check.criterion.question,
        answer="" if passed else check.criterion.answer,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Ending:
    """How a check ended over what was drawn."""

    outcome: Outcome
    message: str = ""
    error: Exception | None = None
    notes: tuple[str, ...] = ()
    is_borderline: bool = False  #: other inputs could decide otherwise


def _ended(
    check: Check, spec: Spec, candidate: Candidate, seed: str, asked: tuple[Draw, Session]
) -> _Ending:
    judge = Judge()
    given = _given(check, spec, candidate, judge, *asked)
    try:
        if check.criterion.of_torch and not candidate.known.has_autograd:
            raise NotOffered("tensors of torch")
        with np.errstate(all="ignore"):  # a wrong answer may hold anything
            check.criterion.body(**given)
    except NotOffered as error:
        return _Ending(Outcome.NOT_APPLICABLE, f"the submission has no {error}")
    except CheckFailed as error:
        return _Ending(Outcome.FAILED, str(error), error, is_borderline=judge.is_near_miss)
    except CandidateError as error:
        return _Ending(OUTCOMES[type(error)], str(error), error)
    except SandboxBroken:
        raise
    except Exception as error:
        outcome = Outcome.FAILED if _passes_reference(check, spec, seed) else Outcome.INVALID
        broken = "the check itself" if outcome is Outcome.INVALID else "with this answer the check"
        said = one_line(f"{broken} broke: {type(error).__name__}: {error}", 400)
        return _Ending(outcome, said)
    return _Ending(Outcome.PASSED, notes=judge.notes, is_borderline=judge.is_borderline)


#: What a check says that was decided on the spec's own inputs, whether it passed or not.
BORDERLINE: Final = "borderline: decided on inputs that are the same at every seed"


def _decided_again(check: Check, spec: Spec, candidate: Candidate) -> _Ending:
    """Run a check over the spec's own inputs; the first that it does not pass decides."""
    for seed in spec.decisive_seeds:
        # Diagnosis and pictures compare the calls of one run.
        candidate.forget_calls(check.id)
        asked = _asked(check, spec, candidate, seed, None)
        ended = _ended(check, spec, candidate, seed, asked)
        if ended.outcome is not Outcome.PASSED:
            break
    return dataclasses.replace(ended, notes=(*ended.notes, BORDERLINE))


def _asked(
    check: Check, spec: Spec, candidate: Candidate, seed: str, sheet: QuestionSheet | None
) -> tuple[Draw, Session]:
    """Return what a check draws from, and what it exchanges its steps with."""
    facts, heads_alike = candidate.known, candidate.known.heads_alike
    if sheet is None or not facts.masks or facts.sources < 3:  # what is asked then is its own
        drawn = Draw(
            seed, check.id, heads_alike=heads_alike, masks=facts.masks, sources=facts.sources
        )
        return drawn, candidate.session

    def run(draw: Draw, judge: Judge, session: Session) -> None:
        known = SubmissionFacts(heads_alike=heads_alike, trust_parameter_names=True)
        with np.errstate(all="ignore"):
            reference = Candidate(spec, session, known=known)
            check.criterion.body(**_given(check, spec, reference, judge, draw, session))

    def reference() -> Session:
        return DirectSession(spec.assemble(spec.reference), arrays=spec.arrays)

    page = sheet.page(check.id, heads_alike=heads_alike, run=run, reference=reference)
    return page.drawn.again(), Dialogue(candidate.session, page)


def _given(
    check: Check, spec: Spec, candidate: Candidate, judge: Judge, draw: Draw, session: Session
) -> dict[str, object]:
    """Return what the check's function needs, by name."""
    available = {
        **spec.fixtures(draw),
        **spec.roles(candidate.entry_points(check.id, session)),
        "draw": draw,
        "judge": judge,
    }
    return {need: available[need] for need in check.criterion.needs}


def _passes_reference(check: Check, spec: Spec, seed: str) -> bool:
    """Tell whether the reference passes a check on the same inputs."""
    session = DirectSession(spec.assemble(spec.reference), arrays=spec.arrays)
    known = SubmissionFacts(trust_parameter_names=True)
    candidate = Candidate(spec, session, known=known)
    given = _given(check, spec, candidate, Judge(), Draw(seed, check.id), session)
    try:
        with np.errstate(all="ignore"):
            check.criterion.body(**given)
    except Exception:
        return False
    return True


#: How the note of a check begins that earns nothing since another did not pass.
_WITHHELD = "no points: "


def credit(spec: Spec, results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Take back the points of checks that earn with another one which did not pass."""
    fine = (Outcome.PASSED, Outcome.NOT_APPLICABLE)
    passed = {result.id for result in results if result.outcome in fine}
    with_what = {check.id: check.earns_with for check in spec.checks}

    def credited(result: CheckResult) -> CheckResult:
        needed = with_what[result.id]
        if not result.earned or not needed or needed in passed:
            return result
        note = f"{_WITHHELD}{needed} did not pass"
        note = f"{result.note}; {note}" if result.note else note
        return msgspec.structs.replace(result, earned=0, note=note)

    return tuple(credited(result) for result in results)


def restore_credit(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """Give passing checks the points that ``credit`` withheld.

    For a submission that is proven to be the reference with named mistakes: what it passes is then
    no luck. One missing √d_k costs the points of the checks that it fails, and no others.
    """

    def restored(result: CheckResult) -> CheckResult:
        if result.outcome is not Outcome.PASSED or result.earned == result.points:
            return result
        kept = [part for part in result.note.split("; ") if not part.startswith(_WITHHELD)]
        return msgspec.structs.replace(result, earned=result.points, note="; ".join(kept))

    return tuple(restored(result) for result in results)


def level_reached(results: Sequence[CheckResult]) -> Level:
    """Return the highest level whose checks, and all those below, passed.

    Above pass, a level is not reached either while one of its checks does not apply: nobody has
    seen that it would hold.
    """
    reached = Level.NONE
    for level in LEVELS[1:]:
        of_level = [result for result in results if result.level is level]
        if any(result.outcome.is_missed for result in of_level):
            break
        if level is not Level.PASS and any(
            result.outcome is Outcome.NOT_APPLICABLE for result in of_level
        ):
            break
        if of_level:
            reached = level
    return reached


def verdict(results: Sequence[CheckResult]) -> Verdict:
    """Return passed when every pass-level check passed; one invalid check voids the whole."""
    if any(result.outcome is Outcome.INVALID for result in results):
        return Verdict.INVALID
    required = [result for result in results if result.level is Level.PASS]
    missed = any(result.outcome.is_missed for result in required)
    return Verdict.FAILED if missed else Verdict.PASSED


def possible_points(results: Iterable[CheckResult]) -> Points:
    """Return what a right answer would have earned: the points of all checks that applied."""
    return sum(one.points for one in results if one.outcome is not Outcome.NOT_APPLICABLE)
