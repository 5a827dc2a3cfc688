"""One run over a batch: the cards that are kept, those that are made, and the repairs."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import enum
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

import msgspec

from harness.commands import code_answers, job
from harness.commands.interrupts import Interrupts
from harness.errors import SandboxBroken, SandboxUnavailable
from harness.grading import (
    DaskWorkers,
    Jobs,
    Ledger,
    LocalProcesses,
    Pending,
    Task,
    Watcher,
    card_key,
    grade_all,
    is_local,
)
from harness.grading import unscored as unscored_card
from harness.intake import Batch
from harness.own_tests import has_own_tests
from harness.parsing import Parser
from harness.repair import is_explained, is_failing
from harness.results import Card, SubmissionResult, Verdict
from harness.sandbox import Sandbox
from harness.spec import Spec


class Repairs(enum.StrEnum):
    """Of which submissions a repair is looked for."""

    NONE = "none"
    EXPLAINED = "explained"  #: those whose bugs have names that explain everything
    ALL = "all"

    def are_for(self, card: Card) -> bool:
        """Tell whether a repair is still to be looked for."""
        if self is Repairs.NONE or card.search is not None:
            return False
        wanted: Callable[[SubmissionResult], bool]
        wanted = is_failing if self is Repairs.ALL else is_explained
        return wanted(card.result)


def as_it_is(card: Card) -> Card:
    """Return a card in which no name is hidden."""
    return card


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """One run over a batch, on a ledger that it holds."""

    spec: Spec
    batch: Batch
    order: job.Order
    ledger: Ledger
    sandbox: Sandbox  #: tells what the submissions run in; never started
    jobs: int
    executor: str
    repairs: Repairs
    now: Callable[[], datetime.datetime]
    say: Callable[[str], None]
    keys: set[str] = dataclasses.field(default_factory=set)  #: of every submission of the batch
    unrepaired: dict[str, str] = dataclasses.field(default_factory=dict)  #: key -> id
    untested: dict[str, str] = dataclasses.field(default_factory=dict)  #: key -> id
    own_tests: bool = False  #: those that candidates hand in are run
    unrun: dict[str, str] = dataclasses.field(default_factory=dict)  #: key -> id
    #: makes what code in written answers runs in ready; None where it is not to be run
    prepare_code: Callable[[], None] | None = None
    clock: Callable[[], float] = time.monotonic
    conceal: Callable[[Card], Card] = as_it_is  #: hides names in it

    def cards(self, interrupts: Interrupts, watcher: Watcher) -> Iterator[Card]:
        """Yield the card of each submission, as they are there.

        When the run is stopped, or breaks, the cards that are kept come all the same.

        Raises:
            SandboxBroken: after the cards, if no more could be made.
        """
        kept: collections.deque[str] = collections.deque()
        broken = None
        with Parser() as parser:
            submissions = self._submissions(parser)
            missing = self._missing(submissions, kept)
            try:
                for card in self._made(missing, interrupts, watcher):
                    yield card
                    yield from self._kept(kept)
            except SandboxBroken as error:
                broken = error
            collections.deque(self._missing(submissions, kept), maxlen=0)
        yield from self._kept(kept)
        if broken is not None:
            raise broken

    def search_repairs(
        self, interrupts: Interrupts, watcher: Watcher, *, since: float
    ) -> Iterator[Card]:
        """Look for repairs when every verdict is there; yield the cards, with one or without.

        ``since`` is when the run began, by the clock. A repair changes no verdict. What is not
        looked for in this run is so in the next one.

        Raises:
            SandboxBroken: no sandbox can be opened.
        """
        if not self.unrepaired or interrupts.stopping():
            return
        began, found, ended = self.clock(), 0, 0
        self.say(f"looking for repairs of {len(self.unrepaired)}; --no-repairs leaves them out")
        for key, card in self._done(job.repair_task, self.unrepaired, interrupts, watcher):
            ended += 1
            found += card.repair is not None
            if card.search is not None:
                self.ledger.amend(key, card)
                yield card
        now = self.clock()
        share = f"{(now - began) / max(now - since, 1e-9):.0%} of the time"
        self.say(f"repairs: {found} found for {ended} in {now - began:.1f} s, {share}")

    def run_own_tests(self, interrupts: Interrupts, watcher: Watcher) -> Iterator[Card]:
        """Run candidates' own tests when every verdict is final; yield the cards.

        Raises:
            SandboxBroken: no container can be started.
        """
        if not self.untested or interrupts.stopping():
            return
        self.say(f"running the own tests of {len(self.untested)}")
        for key, card in self._done(job.own_tests_task, self.untested, interrupts, watcher):
            if card.own_tests is not None:
                self.ledger.amend(key, card)
                yield card

    def run_code_answers(self, interrupts: Interrupts, watcher: Watcher) -> Iterator[Card]:
        """Run the code in written answers when all are read; yield the cards.

        Where no sandbox can be provided that is said, and the answers stay as they were read.

        Raises:
            SandboxBroken: a sandbox broke on the way.
        """
        if not self.unrun or self.prepare_code is None or interrupts.stopping():
            return
        try:
            self.prepare_code()
        except SandboxUnavailable as error:
            self.say(f"code in {len(self.unrun)} answers was not run: {error}")
            return
        self.say(f"running code in {len(self.unrun)} answers")
        done = self._done(code_answers.code_answers_task, self.unrun, interrupts, watcher)
        for key, card in done:
            if any(question.code for question in card.questions):
                self.ledger.amend(key, card)
                yield card

    def _done(
        self,
        work: Callable[[bytes, bytes], bytes],
        cards: Mapping[str, str],
        interrupts: Interrupts,
        watcher: Watcher,
    ) -> Iterator[tuple[str, Card]]:
        """Do work on cards that are there, by their keys; yield key and card as they come back."""
        with self._executing(work) as (submit, count):
            jobs = Jobs(
                submit=submit,
                count=count,
                unscored=lambda pending, reason: self._card(pending.key),
                stopping=interrupts.stopping,
                watcher=watcher,
            )
            for pending, card in grade_all(self._work_on(cards), jobs):
                yield pending.key, self.conceal(card)

    def _work_on(self, cards: Mapping[str, str]) -> Iterator[Pending]:
        for key, identifier in cards.items():
            if task := self.ledger.task(key):
                work = job.card_work(self._card(key), task)
                yield Pending(id=identifier, key=key, task=work)

    def _card(self, key: str) -> Card:
        card = self.ledger.card(key)
        assert card is not None  # it was kept in this run, or found to be there
        return card

    def _submissions(self, parser: Parser) -> Iterator[Pending]:
        """Read the submissions one by one."""
        basis = job.basis(self.order, self.sandbox.environment)
        for delivery in self.batch.deliveries:
            task = Task.read(delivery, parser).encode()
            key = card_key(basis, task)
            self.keys.add(key)
            yield Pending(id=delivery.id, key=key, task=task)

    def _missing(
        self, submissions: Iterator[Pending], kept: collections.deque[str]
    ) -> Iterator[Pending]:
        """Yield the submissions that have no card; collect the keys of the others."""
        for submission in submissions:
            if self.ledger.has(submission.key):
                kept.append(submission.key)
            else:
                yield submission

    def _kept(self, keys: collections.deque[str]) -> Iterator[Card]:
        while keys:
            key = keys.popleft()
            if (card := self.ledger.card(key)) is not None:
                self._note(key, card)
                yield card

    def _made(
        self, missing: Iterator[Pending], interrupts: Interrupts, watcher: Watcher
    ) -> Iterator[Card]:
        """Grade submissions, and keep the cards."""
        with self._executing(job.grade_task) as (submit, count):
            jobs = Jobs(
                submit=submit,
                count=count,
                unscored=self._unscored,
                stopping=interrupts.stopping,
                watcher=watcher,
            )
            for submission, undated in grade_all(missing, jobs):
                time = self.now().isoformat(timespec="seconds")
                result = msgspec.structs.replace(undated.result, graded=time)
                card = self.conceal(msgspec.structs.replace(undated, result=result))
                if result.verdict is not Verdict.INVALID:
                    self.ledger.keep(submission.key, card, time=time, task=submission.task)
                    self._note(submission.key, card)
                yield card

    def _note(self, key: str, card: Card) -> None:
        if self.repairs.are_for(card):
            self.unrepaired[key] = card.result.id
        if self.own_tests and card.own_tests is None and has_own_tests(card):
            self.untested[key] = card.result.id
        if self.prepare_code is not None and code_answers.may_have_code(card, self.spec):
            self.unrun[key] = card.result.id

    @contextlib.contextmanager
    def _executing(
        self, work: Callable[[bytes, bytes], bytes]
    ) -> Iterator[tuple[Callable[..., Any], int]]:
        """Give what hands work to jobs, and how many there are; end them afterwards."""
        executor, arguments, count = self._executor(work)
        try:
            yield functools.partial(executor.submit, *arguments), count
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise
        executor.shutdown()

    def _executor(
        self, work: Callable[[bytes, bytes], bytes]
    ) -> tuple[Executor, tuple[Any, ...], int]:
        """Return where submissions are worked on, by calling what, and how many at a time."""
        order = msgspec.msgpack.encode(self.order)
        if self.executor == "local":
            preload = job.preloads(self.spec, self.order.spec)
            processes = LocalProcesses(self.jobs, preload=preload, close=job.close)
            return processes, (work, order), self.jobs
        identify = functools.partial(job.identify, order)
        workers = DaskWorkers(self.executor, identify=identify, close=job.close)
        if not workers.is_encrypted and not is_local(self.executor):
            self.say("the cluster is not encrypted: anyone on its network reads and sends work")
        return workers, (job.work_elsewhere, work, identify(), order), workers.count

    def _unscored(self, submission: Pending, reason: str) -> Card:
        assignment = job.make_assignment(self.spec, self.order)
        return unscored_card(submission.id, "", Verdict.INVALID, reason, assignment, self.sandbox)
