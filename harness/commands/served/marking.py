"""Marking written answers: one question of all candidates, without names."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

import reports
from harness.commands.review import standing_in
from harness.commands.served.batch import ServedBatch
from harness.commands.served.guard import Guard
from harness.errors import UsageError
from harness.marking import Sheet, unread
from harness.reviews import WHOLE_FORM, Entry, Mark, Note

_NOTE_CAP = 4_000
_SHARES = {"0": 0.0, "0.5": 0.5, "1": 1.0}


class MarkingPages:
    """The list of questions, and a page for each."""

    def __init__(self, batch: ServedBatch, guard: Guard) -> None:
        self._batch = batch
        self._guard = guard

    def list(self, request: Request) -> Response:
        sheets = tuple(self._page(sheet) for sheet in self._batch.sheets())
        return HTMLResponse(reports.render_sheets(reports.SheetsPage(sheets=sheets)))

    def sheet(self, request: Request) -> Response:
        sheets = {sheet.question.id: sheet for sheet in self._batch.sheets()}
        number = request.path_params["number"]
        if number not in sheets:
            return PlainTextResponse("There is no such question to mark.\n", status_code=404)
        order = ["", *sheets, ""]
        place = order.index(number)
        page = self._page(sheets[number], before=order[place - 1], after=order[place + 1])
        return HTMLResponse(reports.render_sheet(page))

    def _page(self, sheet: Sheet, before: str = "", after: str = "") -> reports.SheetPage:
        code = self._batch.language.code
        question = reports.in_language(sheet.question, code)
        return reports.SheetPage(
            number=question.id,
            text=question.text,
            model=question.model_answer,
            flags=tuple(flag.text for flag in question.red_flags),
            answers=tuple(
                reports.marked_answer(one.key, reports.in_language(one.question, code))
                for one in sheet.answers
            ),
            blank=sheet.blank,
            form=self._guard.form,
            before=before,
            after=after,
        )

    def enter(self, request: Request, fields: dict[str, str]) -> Response:
        """Write what a form says that is not so already; then stay, or go to the next question."""
        sheets = {sheet.question.id: sheet for sheet in self._batch.sheets()}
        number = request.path_params["number"]
        sheet = sheets.get(number)
        if sheet is None:
            return PlainTextResponse("There is no such question to mark.\n", status_code=404)
        self._batch.append(list(self._entries(sheet, fields)))
        self._batch.append(list(self._readings()))
        if fields.get("go") != "next":
            return RedirectResponse(request.url.path, status_code=303)
        following = [*sheets, ""][[*sheets].index(number) + 1]
        return RedirectResponse(f"/marks/{following}" if following else "/marks", status_code=303)

    def _entries(self, sheet: Sheet, fields: dict[str, str]) -> Iterator[Entry]:
        time, reviewer = self._batch.time(), self._batch.reviewer
        for answer in sheet.answers:
            submission = sheet.submission(answer.key)
            for point in answer.question.points:
                value = fields.get(f"mark {answer.key} {point.id}")
                if value is None:
                    continue
                if value not in _SHARES:
                    said = f"the mark of {point.id} is {value[:20]!r}"
                    raise UsageError(f"{said}, expected 0, 0.5 or 1; load the page again")
                if point.mark is None or float(point.mark) != _SHARES[value]:
                    yield Mark(
                        submission=submission, reviewer=reviewer, time=time, point=point.id,
                        share=_SHARES[value],
                    )  # fmt: skip
            note = fields.get(f"note {answer.key}", answer.question.note).strip()[:_NOTE_CAP]
            if note != answer.question.note:
                yield Note(
                    submission=submission, reviewer=reviewer, time=time, text=note,
                    about=sheet.question.id,
                )  # fmt: skip

    def _readings(self) -> Iterator[Entry]:
        """Yield that a form was read to its end, for each of which every answer is marked now."""
        marked = standing_in(self._batch.folder, self._batch.reviews)
        time, reviewer = self._batch.time(), self._batch.reviewer
        for submission, left in unread(self._batch.cards(), marked).items():
            if not left and not (submission in marked and marked[submission].reviewed):
                yield Mark(
                    submission=submission, reviewer=reviewer, time=time, point=WHOLE_FORM, share=1.0
                )
