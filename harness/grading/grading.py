"""One submission, one spec -> its card: the whole story.

A delivery is read and checked, loaded in a sandbox, run through the checks on this side of the
wall, and turned into results and evidence.
"""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from harness import answer_form
from harness.candidate import (
    LoadReport,
    QuestionSheet,
    Recorded,
    SandboxSession,
    Session,
    SubmissionFacts,
    level_reached,
    possible_points,
    restore_credit,
    run_checks,
    verdict,
)
from harness.conventions import (
    AdaptingSession,
    Convention,
    InSingle,
    deviations,
    infer,
    library_of,
)
from harness.diagnosis import diagnose, is_proven, unexplained
from harness.errors import CandidateError, CandidateRaised, Refused, SandboxBroken
from harness.evidence import gather
from harness.grading.cause import Finding, find_cause, of_load
from harness.intake import Submission, python_needed, slug
from harness.parsing import Parser
from harness.results import (
    Card,
    CheckResult,
    Diagnosis,
    Evidence,
    Level,
    Outcome,
    SubmissionResult,
    Verdict,
)
from harness.sandbox import Limits, Sandbox
from harness.spec import Spec
from harness.text import one_line


class Readable(Protocol):
    """A submission that is known by name, whether it has been read or not."""

    @property
    def id(self) -> str:
        """What it is called in its batch."""

    def load(self, parser: Parser) -> Submission:
        """Return it, read and checked.

        Raises:
            Refused: intake does not accept it.
        """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What every submission of a batch is graded by."""

    spec: Spec
    seed: str
    limits: Limits
    parser: Parser
    sheet: QuestionSheet | None = None  #: of this seed, where there are several submissions
    adapt: bool = False  #: accept other names, orders, masks and layouts, and say which
    clock: Callable[[], float] = time.monotonic
    follow: Callable[[CheckResult], None] = lambda result: None  #: told of each check as it ends


def grade(delivery: Readable, assignment: Assignment, sandbox: Sandbox) -> Card:
    """Grade one submission in a sandbox; whatever happens becomes a card."""
    began = assignment.clock()
    try:
        card = grade_submission(delivery.load(assignment.parser), assignment, sandbox)
    except Refused as refused:
        card = unscored(delivery.id, "", Verdict.UNGRADEABLE, str(refused), assignment, sandbox)
    except SandboxBroken as broken:
        card = unscored(delivery.id, "", Verdict.INVALID, str(broken), assignment, sandbox)
    except Exception as error:  # a defect of ours costs one card, and the batch goes on
        reason = f"the harness broke: {_where(error)}"
        card = unscored(delivery.id, "", Verdict.INVALID, reason, assignment, sandbox)
    return _with(card, seconds=round(assignment.clock() - began, 3))


def grade_submission(submission: Submission, assignment: Assignment, sandbox: Sandbox) -> Card:
    """Run the spec's checks against a submission that intake has accepted.

    Raises:
        Refused: it is a form of written answers that was not drawn as it says.
    """
    if assignment.spec.forms is not None:
        drawn = assignment.spec.forms.read(submission.text)
        assignment = dataclasses.replace(assignment, spec=drawn)
    spec = assignment.spec
    session = SandboxSession(
        submission,
        sandbox,
        assignment.limits,
        arrays=_library(submission, assignment),
        blocked=spec.blocks_fused,
        clock=assignment.clock,
    )
    try:
        card = _graded(submission, assignment, sandbox, session)
    except SandboxBroken as broken:
        card = unscored(
            submission.id, submission.sha256, Verdict.INVALID, str(broken), assignment, sandbox
        )
        return _with(card, exchanges=session.exchanges)
    if spec.questions and card.result.verdict in (Verdict.PASSED, Verdict.FAILED):
        card = _awaiting_review(card, spec, submission)
    return msgspec.structs.replace(
        card, sources=submission.shown(assignment.parser), log=sandbox.log()
    )


def _library(submission: Submission, assignment: Assignment) -> str:
    """Return what arrays a submission takes: the brief's, or with ``adapt`` its own."""
    arrays = assignment.spec.arrays
    if not assignment.adapt:
        return arrays
    return library_of((file.data.decode() for file in submission.files), arrays)


def _awaiting_review(card: Card, spec: Spec, submission: Submission) -> Card:
    """Leave a form to a person: what a machine has read of it neither passes nor fails it."""
    checks = card.result.checks
    answered = answer_form.answered(spec.questions, answer_form.read(submission.text))
    questions = answer_form.left_to_reviewer(answered, checks)
    points = sum(point.points for question in questions for point in question.points)
    card = msgspec.structs.replace(card, questions=questions)
    return _with(
        card,
        verdict=Verdict.AWAITING_REVIEW,
        reason=answer_form.awaits(questions),
        level=Level.NONE,
        possible=possible_points(checks) + points,
        notes=(*card.result.notes, *answer_form.remarks(submission.text, spec.questions)),
    )


def _graded(
    submission: Submission, assignment: Assignment, sandbox: Sandbox, session: SandboxSession
) -> Card:
    """Load the submission, find its entry points, and score it if there are any."""
    spec = assignment.spec
    try:
        report = session.load()
    except CandidateError as error:
        if needed := _newer_python(submission, error):
            return unscored(
                submission.id, submission.sha256, Verdict.UNGRADEABLE, needed, assignment, sandbox
            )
        interface = Interface(session, load_error=error)  # every check will report it
        return _score(submission, assignment, sandbox, session, interface)
    interface = find_interface(
        spec, session, report, assignment, library=_library(submission, assignment)
    )
    if reason := interface.unclear or ("" if interface.defined else _no_entry_point(spec, report)):
        return unscored(
            submission.id, submission.sha256, Verdict.UNGRADEABLE, reason, assignment, sandbox
        )
    return _score(submission, assignment, sandbox, session, interface)


def _newer_python(submission: Submission, error: CandidateError) -> str:
    """Say which Python a submission needs whose syntax is newer than the sandbox's, or ""."""
    if not isinstance(error, CandidateRaised) or error.kind != "SyntaxError" or not error.line:
        return ""
    texts = {file.name: file.data.decode() for file in submission.files}
    lines = texts.get(error.file or submission.entry, "").split("\n")
    line = lines[error.line - 1] if error.line <= len(lines) else ""
    needed = python_needed(line, error.message)
    return f"{submission.place(error.line)} needs {needed}" if needed else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Interface:
    """How a submission is to be talked to, and which of the brief's entry points it has."""

    session: Session
    defined: frozenset[str] | None = None  #: None when it is not known
    conventions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unclear: str = ""  #: why it cannot be told how to talk to it
    heads_alike: bool = False  #: its masks cannot differ between heads
    load_error: CandidateError | None = None  #: why it did not load
    core: Convention | None = None  #: how the attention itself is called
    library: str = ""  #: "numpy" or "torch", where that is not the brief's
    #: sizes that the brief asks for -> those of what its class can be made of
    offered: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None


def find_interface(
    spec: Spec,
    session: SandboxSession,
    report: LoadReport,
    assignment: Assignment,
    *,
    library: str = "",
) -> Interface:
    """Find the brief's entry points in what was loaded, adapting to its conventions if asked."""
    brief = frozenset(point.name for point in spec.entry_points)
    if not assignment.adapt:
        said = deviations(spec, report)
        notes = (*report.notes, said) if said else report.notes
        return Interface(session, report.names & brief, notes=notes)
    library = library or spec.arrays
    talking: Session = session
    if library == "torch" != spec.arrays:
        talking = InSingle(session)
    try:
        inferred = infer(spec, talking, report)
    except CandidateError:  # a trial ended the process; the checks will meet it again
        return Interface(session, report.names & brief, notes=report.notes)
    variants = {point.name: point.variants for point in spec.entry_points}
    defined = frozenset(inferred.conventions)
    absent = ", ".join(sorted(brief - defined))
    notes = (f"Not in the submission, and not graded: {absent}",) if absent else ()
    asked = next((p.name for p in spec.entry_points if p.is_core), "")
    unclear = inferred.unclear.get(asked, "")
    if asked and asked not in defined and not unclear:
        unclear = _no_entry_point(spec, report)
    words = dict(inferred.words)
    if library != spec.arrays:
        words["library"] = f"written in {library}, the brief asks for {spec.arrays}"
    return Interface(
        AdaptingSession(talking, inferred.conventions, variants),
        defined,
        words,
        (*report.notes, *notes),
        unclear,
        any(convention.heads_alike for convention in inferred.conventions.values()),
        core=inferred.conventions.get(asked),
        library=library,
        offered=next(iter(inferred.offered.values()), None),
    )


def unscored(
    identifier: str,
    sha256: str,
    came_to: Verdict,
    reason: str,
    assignment: Assignment,
    sandbox: Sandbox,
) -> Card:
    """Return the card of a submission that gets no score, and the reason."""
    result = SubmissionResult(
        id=identifier,
        spec=assignment.spec.name,
        sha256=sha256,
        verdict=came_to,
        reason=reason,
        card=f"cards/{slug(identifier, sha256)}.html",
        possible=assignment.spec.possible,
    )
    return _card(result, assignment, sandbox)


def _score(
    submission: Submission,
    assignment: Assignment,
    sandbox: Sandbox,
    session: SandboxSession,
    interface: Interface,
) -> Card:
    spec = assignment.spec
    if assignment.adapt and interface.defined is not None:
        spec = spec.only(interface.defined)
    known = SubmissionFacts(
        heads_alike=interface.heads_alike,
        saw_brief=not assignment.adapt or not interface.conventions,
    )
    if interface.offered is not None:
        known.offered = interface.offered
    known.has_autograd = interface.library != "numpy" or spec.arrays == "numpy"
    if interface.core is not None:
        known.sources, known.masks = interface.core.sources, interface.core.masks
        known.causal = interface.core.causal_inside
    checks, recording = run_checks(
        spec,
        interface.session,
        assignment.seed,
        interface.defined,
        known,
        assignment.sheet,
        follow=assignment.follow,
    )
    came_to = verdict(checks)
    applying = [check for check in checks if check.outcome is not Outcome.NOT_APPLICABLE]
    if came_to is not Verdict.INVALID and not _core_applies(spec, applying):
        reason = _nothing_to_grade(checks)
        return unscored(
            submission.id, submission.sha256, Verdict.UNGRADEABLE, reason, assignment, sandbox
        )
    finding = None
    if came_to is not Verdict.INVALID:
        finding = _find_cause(spec, checks, recording, interface)
    if finding is None:
        found = explain_failure(spec, recording, checks, assignment.seed)
        if is_proven(spec, found.diagnosis):
            checks = restore_credit(checks)
    else:
        checks = finding.folded(checks)
        found = FailureDetails((finding.flaw.diagnosis(),) if finding.flaw else ())
    result = SubmissionResult(
        id=submission.id,
        spec=spec.name,
        sha256=submission.sha256,
        verdict=came_to,
        reason=_broken_checks(checks) if came_to is Verdict.INVALID else _as_far(checks),
        cause=finding.cause if finding else None,
        card=f"cards/{slug(submission.id, submission.sha256)}.html",
        level=level_reached(checks),
        earned=None if came_to is Verdict.INVALID else sum(check.earned for check in checks),
        possible=possible_points(checks),
        diagnosis=found.diagnosis,
        next_questions=() if any(c.outcome.is_missed for c in checks) else spec.next_questions,
        conventions={**interface.conventions, **known.conventions},
        notes=(*submission.notes, *interface.notes, *found.notes),
        not_offered=tuple(_absent(checks)),
        checks=checks,
        exchanges=session.exchanges,
    )
    card = _card(result, assignment, sandbox)
    return msgspec.structs.replace(card, evidence=found.evidence)


def _find_cause(
    spec: Spec,
    checks: tuple[CheckResult, ...],
    recording: Sequence[Recorded],
    interface: Interface,
) -> Finding | None:
    if interface.load_error is not None:
        return of_load(interface.load_error, checks)
    return find_cause(spec, checks, recording, interface.defined)


@dataclasses.dataclass(frozen=True, slots=True)
class FailureDetails:
    """What is known of a wrong submission besides its checks."""

    diagnosis: tuple[Diagnosis, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


def explain_failure(
    spec: Spec, recording: Sequence[Recorded], checks: tuple[CheckResult, ...], seed: str
) -> FailureDetails:
    """Diagnose a submission that failed, and gather the evidence; a defect of ours is a note."""
    if verdict(checks) is Verdict.INVALID:
        return FailureDetails()
    try:
        diagnosis = diagnose(spec, recording, checks, seed)
        evidence = gather(spec, recording, checks, diagnosis)
        said = "" if diagnosis else unexplained(checks, evidence)
    except Exception as error:  # the score stands without it
        return FailureDetails(notes=(f"Not diagnosed, since the harness broke: {_where(error)}",))
    return FailureDetails(diagnosis, evidence, (said,) if said else ())


def _with(card: Card, **changes: Any) -> Card:
    """Return the card with some of its result's fields changed."""
    return msgspec.structs.replace(card, result=msgspec.structs.replace(card.result, **changes))


def _where(error: Exception) -> str:
    """Spell an exception of ours, and where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return one_line(f"{type(error).__name__}: {error} ({place})", 400)


def _core_applies(spec: Spec, applying: Sequence[CheckResult]) -> bool:
    """Tell whether what the assignment is about was graded, not only what is around it."""
    applied = {check.id for check in applying}
    return "definition" in applied or all(check.id != "definition" for check in spec.checks)


def _absent(checks: Sequence[CheckResult]) -> Sequence[str]:
    """Name what checks needed and the submission does not have, each once."""
    absent = (check for check in checks if check.outcome is Outcome.NOT_APPLICABLE)
    names = (check.message.removeprefix("the submission has no ") for check in absent)
    return list(dict.fromkeys(names))


def _lacking(checks: Sequence[CheckResult]) -> str:
    return ", no ".join(_absent(checks))


def _as_far(checks: Sequence[CheckResult]) -> str:
    """Say how much of an assignment was graded, or "" where that is all of it."""
    absent = _lacking(checks)
    if not absent:
        return ""
    applying = sum(check.outcome is not Outcome.NOT_APPLICABLE for check in checks)
    right = verdict(checks) is Verdict.PASSED
    begin = "Right as far as it goes" if right else "Graded as far as it goes"
    return f"{begin}: no {absent} ({applying} of {len(checks)} checks apply)"


def _nothing_to_grade(checks: Sequence[CheckResult]) -> str:
    return f"the submission has no {_lacking(checks)}, without which there is nothing to grade"


def _broken_checks(checks: tuple[CheckResult, ...]) -> str:
    broken = [check for check in checks if check.outcome is Outcome.INVALID]
    return "; ".join(f"{check.id}: {check.message}" for check in broken)


def _card(result: SubmissionResult, assignment: Assignment, sandbox: Sandbox) -> Card:
    spec = assignment.spec
    return Card(spec=spec.name, title=spec.title, environment=sandbox.environment, result=result)


def _no_entry_point(spec: Spec, report: LoadReport) -> str:
    wanted = ", ".join(point.name for point in spec.entry_points)
    found = ", ".join(one_line(name, 60) for name in sorted(report.names)[:12]) or "nothing"
    said = deviations(spec, report)
    return f"the submission defines {found}, expected {wanted}{f'; {said}' if said else ''}"
