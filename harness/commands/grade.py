"""What the larger commands do: where specs, sandboxes and reports come together."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console

import reports
import specs
from harness.commands import console, review
from harness.errors import UsageError
from harness.grading import Assignment, Slots, grade_all
from harness.intake import Batch, collect
from harness.parsing import Parser
from harness.repair import RepairFinder
from harness.results import BatchResults, Card, SubmissionResult
from harness.sandbox import LIMITS, opener
from harness.spec import Spec

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What ``takehome grade`` was asked for."""

    paths: tuple[Path, ...]
    spec: str
    out: Path
    jobs: int
    sandbox: str
    reuse: bool
    runtime: str | None
    seed: str | None
    single: bool
    adapt: bool
    for_candidates: bool
    repairs: bool


def grade_batch(request: Request, say: Say) -> Sequence[SubmissionResult]:
    """Grade what was handed in and write the reports; return nothing if there was nothing.

    Raises:
        UsageError: a path, name or folder is not usable.
        SandboxBroken: the sandbox cannot be provided.
    """
    spec = specs.load(request.spec)
    batch = collect(request.paths, single=request.single, texts=spec.image == "text")
    for note in batch.ignored:
        say(f"ignored: {note}")
    if not batch.deliveries:
        say(f"nothing to grade in {', '.join(map(str, request.paths))}")
        return ()
    with _named_problems():
        reports.prepare(request.out)
    seed = request.seed or secrets.token_hex(8)
    make_ready(spec)
    graded = {}
    for card in _cards(request, spec, batch, seed, say):
        with _named_problems():
            if request.for_candidates:
                reports.write_candidate(card, request.out)
            else:
                review.prepare([card], request.out)
                reports.write_card(card, request.out, index="../index.html")
        graded[card.result.id] = card
    submissions = tuple(graded[delivery.id].result for delivery in batch.deliveries)
    if request.for_candidates:
        say(f"cards for the candidates: {request.out / 'candidate'}")
        return submissions
    results = BatchResults(
        spec=spec.name,
        title=spec.title,
        seed=seed,
        environment=next(iter(graded.values())).environment,
        submissions=submissions,
        ignored=batch.ignored,
    )
    with _named_problems():
        reports.write(results, (), request.out)
    say(f"scorecards: {request.out / 'index.html'}")
    return submissions


def make_ready(spec: Spec) -> None:
    """Load what diagnosis needs before the first submission, which would wait 1 s for torch.

    It stays loaded: once frozen, no garbage collection looks through it again, which takes 50 ms
    with torch.
    """
    if spec.arrays == "torch":
        importlib.import_module("torch")
    gc.freeze()


def _cards(request: Request, spec: Spec, batch: Batch, seed: str, say: Say) -> Iterator[Card]:
    """Grade the submissions and yield their cards as they are done, with progress shown."""
    open_sandbox = opener(request.sandbox, spec.image, runtime=request.runtime, report=say)
    with Parser() as parser:
        assignment = Assignment(
            spec=spec,
            seed=seed,
            limits=LIMITS[spec.image],
            parser=parser,
            adapt=request.adapt and spec.image != "text",
            find_repair=RepairFinder() if request.repairs else None,
        )
        slots = Slots(open_sandbox, reuse=request.reuse)
        cards = grade_all(batch.deliveries, assignment, slots, jobs=request.jobs)
        tell = console.to_candidate if request.for_candidates else console.to_interviewer
        yield from console.followed(cards, len(batch.deliveries), Console(), tell)


def render_again(folder: Path, say: Say, *, for_candidates: bool) -> None:
    """Render the reports of an earlier run from its results, with what was ticked since.

    Raises:
        UsageError: the folder does not hold results, or its review cannot be read.
    """
    with _named_problems():
        results = reports.load(folder)
        ticks = review.read(folder)
        cards = [review.fold(card, ticks) for card in reports.load_cards(results, folder)]
        if for_candidates:
            for card in cards:
                reports.write_candidate(card, folder)
            say(f"cards for the candidates: {folder / 'candidate'}")
            return
        folded = {card.result.id: card.result for card in cards}
        submissions = tuple(folded.get(one.id, one) for one in results.submissions)
        reports.write(msgspec.structs.replace(results, submissions=submissions), cards, folder)
    say(f"scorecards: {folder / 'index.html'}")


@contextlib.contextmanager
def _named_problems() -> Iterator[None]:
    """Turn what reports say about a folder into an error of the command line."""
    try:
        yield
    except (reports.Unreadable, reports.Unwritable) as error:
        raise UsageError(str(error)) from None
