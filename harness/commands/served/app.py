"""What is asked for, and what is answered: pages made afresh, and entries into the ledger."""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import reports
from harness.commands.decisions_file import decisions_toml
from harness.commands.served import marking
from harness.commands.served.batch import ServedBatch
from harness.commands.served.guard import ENTRANCE, HEADERS, Guard, GuardedApp
from harness.errors import TakehomeError, UsageError
from harness.language import Language
from harness.results import Verdict
from harness.reviews import Choice, Decision, Entry, Note

#: Most bytes of a form: 300 answers with a note each.
_FORM_CAP = 2 << 20
_TEXT_CAP = 4_000

Answer = Callable[[Request], Response]


def make_app(batch: ServedBatch, guard: Guard) -> ASGIApp:
    """Return the application that serves one folder."""
    pages = _Pages(batch, guard)
    marks = marking.MarkingPages(batch, guard)
    language = batch.language
    routes = [
        Route(ENTRANCE, _answered(language, pages.enter)),
        Route("/", _answered(language, pages.index)),
        Route("/index.html", _answered(language, pages.index)),
        Route("/cards/{slug}.html", _answered(language, pages.card)),
        Route("/cards/{slug}.html", _written(language, pages.decide, guard), methods=["POST"]),
        Route("/compare", _answered(language, pages.compare)),
        Route("/decisions.toml", _answered(language, pages.decisions)),
        Route("/marks", _answered(language, marks.list)),
        Route("/marks/{number}", _answered(language, marks.sheet)),
        Route("/marks/{number}", _written(language, marks.enter, guard), methods=["POST"]),
    ]
    return GuardedApp(Starlette(routes=routes), guard)


def _answered(language: Language, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    def translated(request: Request) -> Response:
        response = answer(request)
        if isinstance(response, HTMLResponse):
            page = reports.translated(bytes(response.body).decode(), language)
            return HTMLResponse(page, status_code=response.status_code)
        return response

    async def respond(request: Request) -> Response:
        try:
            response = await run_in_threadpool(translated, request)
        except UsageError as error:
            response = PlainTextResponse(f"{error}\n", status_code=400)
        except TakehomeError as error:
            response = PlainTextResponse(f"{error}\n", status_code=500)
        response.headers.update(HEADERS)
        return response

    return respond


def _written(
    language: Language,
    write: Callable[[Request, dict[str, str]], Response],
    guard: Guard,
) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        content = b""
        async for part in request.stream():
            content += part
            if len(content) > _FORM_CAP:
                return PlainTextResponse("The form is too large.\n", status_code=413)
        text = content.decode("utf-8", "replace")
        fields = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        refusal = guard.expect_form(fields)
        if refusal is not None:
            return refusal
        return await _answered(language, lambda request: write(request, fields))(request)

    return respond


class _Pages:
    """The batch's page, its cards, and two of them side by side."""

    def __init__(self, batch: ServedBatch, guard: Guard) -> None:
        self._batch = batch
        self._guard = guard

    def enter(self, request: Request) -> Response:
        return self._guard.enter(request.query_params.get("token", ""))

    def index(self, request: Request) -> Response:
        batch = self._batch
        page = reports.render_index(batch.marked_results(), batch.opinions(), batch.look_alikes)
        return HTMLResponse(page)

    def card(self, request: Request) -> Response:
        slug = request.path_params["slug"]
        card = self._batch.card(slug)
        if card is None:
            code = self._batch.code_card(slug)
            page = reports.render_card(code, reports.Context(index="../index.html")) if code else ""
            return HTMLResponse(page) if page else _missing()
        results, opinions = self._batch.results(), self._batch.opinions()
        others = tuple(
            (PurePosixPath(one.card).stem, one.id)
            for one in results.submissions
            if one.card and one.card != card.result.card
        )
        context = dataclasses.replace(
            reports.context_of(card, opinions, form=self._guard.form), others=others
        )
        before, after = reports.neighbours(results, card.result.card)
        page = reports.render_card(card, context)
        names = (PurePosixPath(before).name, PurePosixPath(after).name)
        return HTMLResponse(reports.with_neighbours(page, *names))

    def decide(self, request: Request, fields: dict[str, str]) -> Response:
        card = self._batch.card(request.path_params["slug"])
        if card is None:
            return _missing()
        blank = Decision(
            submission=card.result.id,
            reviewer=self._batch.reviewer,
            time=self._batch.time(),
            sha256=card.result.sha256,
        )
        entries: list[Entry] = []
        decision = _decision(fields, blank)
        standing = self._batch.opinions().standing(card.result.id)
        if _content(decision) != _content(standing or blank):
            entries.append(decision)
        if text := fields.get("note", "").strip():
            entries.append(_note(text, blank))
        self._batch.append(entries)
        return RedirectResponse(request.url.path, status_code=303)

    def compare(self, request: Request) -> Response:
        cards = [self._batch.card(request.query_params.get(side, "")) for side in ("left", "right")]
        if cards[0] is None or cards[1] is None:
            return _missing()
        return HTMLResponse(reports.render_comparison(cards[0], cards[1]))

    def decisions(self, request: Request) -> Response:
        text = decisions_toml(self._batch.reviews)
        return PlainTextResponse(text, media_type="application/toml")


def _note(text: str, blank: Decision) -> Note:
    return Note(
        submission=blank.submission,
        reviewer=blank.reviewer,
        time=blank.time,
        sha256=blank.sha256,
        text=text[:_TEXT_CAP],
    )


def _decision(fields: dict[str, str], blank: Decision) -> Decision:
    """Return the decision of a form.

    Raises:
        UsageError: it has a choice that there is not, or an override without a reason.
    """
    try:
        choice = Choice(fields.get("choice", Choice.UNDECIDED))
        verdict = Verdict(fields["verdict"]) if fields.get("verdict") else None
    except ValueError as error:
        raise UsageError(f"the form is not of this page ({error}); load the page again") from None
    reason = fields.get("reason", "").strip()[:_TEXT_CAP]
    if verdict is not None and not reason:
        raise UsageError(
            "the reason is empty, expected one where a person's verdict stands beside the "
            "machine's; go back and write it"
        )
    return msgspec.structs.replace(blank, choice=choice, verdict=verdict, reason=reason)


def _content(decision: Decision) -> tuple[object, ...]:
    return decision.choice, decision.verdict, decision.reason


def _missing() -> Response:
    return PlainTextResponse("There is no such page in this batch.\n", status_code=404)
