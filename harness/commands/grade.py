"""Grades a batch into a folder, and renders a folder again."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

import reports
import specs
from harness.commands import code_answers, console, job, review
from harness.commands.anonymity import anonymous, save_names
from harness.commands.batch_run import BatchRun, Repairs, as_it_is
from harness.commands.interrupts import Interrupts
from harness.commands.likeness import look_alikes_of
from harness.commands.opinions import read_opinions
from harness.commands.output_folder import OutputFolder, named_problems
from harness.commands.progress import Progress, followed
from harness.errors import SandboxBroken, UsageError
from harness.grading import Ledger, Terms, expect_usable
from harness.intake import Batch, collect
from harness.language import ENGLISH, Language
from harness.marking import fold
from harness.results import BatchResults, Card, CheckResult, SubmissionResult, Verdict
from harness.roster import read_roster
from harness.sandbox import Limits
from harness.settings import LimitChanges
from harness.spec import Spec

Say = Callable[[str], None]


def utc_now() -> datetime.datetime:
    """Return the time, in UTC."""
    return datetime.datetime.now(datetime.UTC)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What ``takehome grade`` was asked for."""

    paths: tuple[Path, ...]
    spec: str
    out: Path
    jobs: int | None  #: None for as many as there are cores
    sandbox: str
    reuse: bool
    runtime: str | None
    seed: str | None
    fresh: bool
    single: bool
    adapt: bool
    for_candidates: bool
    repairs: Repairs = Repairs.EXPLAINED
    language: Language = ENGLISH  #: of the pages
    public_log: bool = False  #: what is printed may be read by candidates
    executor: str = "local"
    own_tests: bool = False  #: run the tests that candidates hand in
    accepted: tuple[str, ...] = ()  #: probes of the sandbox that may be red
    terms: Terms = dataclasses.field(default_factory=Terms)
    limits: LimitChanges = dataclasses.field(default_factory=LimitChanges)
    anonymise: bool = False  #: submissions go by aliases, and names are hidden
    roster: Path | None = None  #: whose names are hidden as well


def plan(request: Request) -> Iterator[str]:
    """Yield in lines what a run would grade by what; nothing is run or written.

    Raises:
        UsageError: a path or name is not usable.
    """
    spec, batch = _collected(request)
    yield f"spec: {spec.name} with {len(spec.checks)} checks"
    yield f"conventions: {'adapt' if request.adapt else 'strict'}"
    yield f"sandbox: {request.sandbox}{', reused' if request.reuse else ''}"
    yield f"out: {request.out}"
    for delivery in batch.deliveries:
        yield f"would grade: {delivery.id}"
    for note in batch.ignored:
        yield f"ignored: {note}"


def _collected(request: Request) -> tuple[Spec, Batch]:
    """Return the spec of a run, and the submissions that are there."""
    spec = specs.load(request.spec)
    expect_usable(request.terms, spec)
    return spec, collect(
        request.paths,
        single=request.single,
        texts=spec.is_written,
        asked=spec.asked,
        adapt=request.adapt,
    )


def grade_batch(
    request: Request, say: Say, now: Callable[[], datetime.datetime] = utc_now
) -> Sequence[SubmissionResult]:
    """Grade what was handed in and write the reports; return nothing if there was nothing.

    What the folder's ledger holds from an earlier run is not graded again.

    Raises:
        UsageError: a path, name or folder is not usable, or another run holds the folder.
        SandboxBroken: the sandbox cannot be provided, or it or the disk broke on the way.
        KeyboardInterrupt: the run was stopped; after one Ctrl-C the reports are written first.
    """
    spec, batch = _collected(request)
    for note in batch.ignored:
        say(f"ignored: {note}")
    if not batch.deliveries:
        say(f"nothing to grade in {', '.join(map(str, request.paths))}")
        return ()
    _require_tests_can_run(request, spec)
    folder = OutputFolder(
        request.out, for_candidates=request.for_candidates, language=request.language
    )
    folder.prepare()
    with Ledger(request.out) as ledger:
        if request.fresh:
            ledger.forget()
        seed = ledger.seed(request.seed)
        order = _order(request, seed, _library(request, spec, batch))
        conceal = as_it_is
        if request.anonymise:
            people = read_roster(request.roster) if request.roster else []
            batch, aliases = anonymous(batch, seed, people)
            say(f"whose each alias is: {save_names(request.out, aliases.names)}")
            conceal = aliases.conceal
        sandbox = job.open_sandboxes(spec, order, say)()  # nothing is started in it
        if sandbox.environment.image:
            _require_held(request, say)
        if request.own_tests:
            job.prepare_test_image(spec, order, say)
        ledger.note_record(job.make_record(spec, order, sandbox.environment))
        run = BatchRun(
            spec=spec,
            batch=batch,
            order=order,
            ledger=ledger,
            sandbox=sandbox,
            jobs=_count_jobs(request, batch),
            executor=request.executor,
            repairs=Repairs.NONE if request.for_candidates else request.repairs,
            own_tests=request.own_tests and not request.for_candidates,
            prepare_code=_code_preparation(request, spec, order, say),
            conceal=conceal,
            now=now,
            say=say,
        )
        with Interrupts(say) as interrupts:
            log = console.to_interviewer
            if request.for_candidates or request.public_log:
                log = console.to_candidate
            return _finish(run, folder, interrupts, say, log)


def _require_held(request: Request, say: Say) -> None:
    """Try the sandbox before anybody's code runs in it."""
    from harness.commands.doctor import require_held  # loads the engine's SDK

    require_held(runtime=request.runtime, limits=Limits(), accepted=request.accepted, report=say)


def _code_preparation(
    request: Request, spec: Spec, order: job.Order, say: Say
) -> Callable[[], None] | None:
    """Return what makes the sandbox of code in answers ready; None where none is to be run."""
    if not spec.code_fields or request.for_candidates:
        return None
    hold = functools.partial(_require_held, request, say)
    return functools.partial(code_answers.prepare, spec, order, hold, say)


def _require_tests_can_run(request: Request, spec: Spec) -> None:
    """Refuse ``--own-tests`` where there is nothing to run them against, or nowhere.

    Raises:
        UsageError: the assignment has no known bugs as source, or the sandbox is no container.
    """
    if not request.own_tests:
        return
    if spec.plain is None:
        raise UsageError(
            f"--own-tests is for numpy_attention and torch_sdpa, the spec is {spec.name}; "
            "leave it out"
        )
    if request.sandbox != "container":
        raise UsageError(
            f"--own-tests runs tests in containers, the sandbox is {request.sandbox}; leave it out"
        )


def _library(request: Request, spec: Spec, batch: Batch) -> str:
    """Return "torch" where a brief of numpy is answered in torch, and "" elsewhere."""
    if not request.adapt or spec.image != "numpy":
        return ""
    return "torch" if any(one.mentions(b"torch") for one in batch.deliveries) else ""


def _order(request: Request, seed: str, library: str) -> job.Order:
    return job.Order(
        spec=request.spec,
        seed=seed,
        sandbox=request.sandbox,
        runtime=request.runtime,
        adapt=request.adapt,
        reuse=request.reuse,
        library=library,
        terms=request.terms,
        limits=request.limits,
    )


def _count_jobs(request: Request, batch: Batch) -> int:
    """Return how many jobs there are: no more than submissions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(request.jobs or cores or 1, len(batch.deliveries))


def shared_text(result: SubmissionResult) -> SubmissionResult:
    """Return a result that shares its sentences with those of other submissions.

    Titles and hints are the same for all of a batch, and most of what a result is made of.
    """

    def shared(check: CheckResult) -> CheckResult:
        return msgspec.structs.replace(
            check,
            id=sys.intern(check.id),
            title=sys.intern(check.title),
            message=sys.intern(check.message),
            hint=sys.intern(check.hint),
            question=sys.intern(check.question),
            answer=sys.intern(check.answer),
        )

    return msgspec.structs.replace(result, checks=tuple(map(shared, result.checks)))


def _finish(
    run: BatchRun,
    folder: OutputFolder,
    interrupts: Interrupts,
    say: Say,
    tell: Callable[[Card], Text],
) -> Sequence[SubmissionResult]:
    """Make the cards and write them and the reports; then raise what stopped the run, if any."""
    graded: dict[str, SubmissionResult] = {}
    total = len(run.batch.deliveries)
    progress = Progress(total)
    started = run.ledger.started(run.now().isoformat(timespec="seconds"))
    broken, tally = None, ""
    try:
        cards = run.cards(interrupts, progress)
        for card in followed(cards, progress, Console(), tell):
            graded[card.result.id] = shared_text(folder.write_card(card))
        tally = progress.tally()
        search = Progress(len(run.unrepaired))
        cards = run.search_repairs(interrupts, search, since=progress.began_at)
        for card in followed(cards, search, Console()):
            folder.write_card(card)
        for card in run.run_code_answers(interrupts, Progress(len(run.unrun))):
            folder.write_card(card)
        cards = run.run_own_tests(interrupts, Progress(len(run.untested)))
        for card in cards:
            folder.write_card(card)
    except SandboxBroken as error:
        broken, tally = error, tally or progress.tally()
    submissions = tuple(graded[d.id] for d in run.batch.deliveries if d.id in graded)
    if submissions:
        folder.remove(run.ledger.drop_others(run.keys))
        folder.write(
            BatchResults(
                specs=(run.spec.name,),
                title=run.spec.title,
                seed=run.order.seed,
                started=started,
                finished=run.now().isoformat(timespec="seconds"),
                environment=run.sandbox.environment,
                submissions=submissions,
                ignored=run.batch.ignored,
            ),
            say,
        )
    for result in submissions:
        if result.verdict is Verdict.INVALID:
            say(f"not graded: {result.id}: {result.reason}")
    if len(submissions) < total:
        say(f"graded: {len(submissions)} of {total}; run the same command again for the others")
    say(tally)
    if interrupts.stopping():
        raise KeyboardInterrupt
    if broken is not None:
        raise broken
    return submissions


def render_again(
    folder: Path, say: Say, *, for_candidates: bool, language: Language = ENGLISH
) -> None:
    """Render the reports of an earlier run from its results, with what was marked since.

    Raises:
        UsageError: the folder does not hold results, or its review cannot be read.
    """
    with named_problems(UsageError):
        results = reports.load(folder)
        marked = review.standing(folder)
        cards = [
            fold(card, marked.get(card.result.id)) for card in reports.load_cards(results, folder)
        ]
        if for_candidates:
            for card in cards:
                reports.write_candidate(card, folder, language=language)
            say(f"cards for the candidates: {folder / 'candidate'}")
            return
        folded = {card.result.id: card.result for card in cards}
        submissions = tuple(folded.get(one.id, one) for one in results.submissions)
        reports.write(
            msgspec.structs.replace(results, submissions=submissions),
            cards,
            folder,
            opinions=read_opinions(folder),
            language=language,
            look_alikes=look_alikes_of(cards),
        )
    say(f"scorecards: {folder / 'index.html'}")
