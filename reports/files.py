"""A batch on disk: written so that a kill leaves each file absent or complete, and read again."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.candidate_view import for_candidate
from harness.language import ENGLISH, Language
from harness.results import SCHEMA, BatchResults, Card, SubmissionResult, to_json
from harness.similarity import LookAlike
from reports.candidate import render_candidate
from reports.index import render_pages
from reports.junit import render_junit
from reports.opinions import Opinions
from reports.scorecard import Context, render_card, with_neighbours
from reports.summary import render_summary
from reports.table import render_csv
from reports.text import card_link
from reports.translation import translated
from reports.versions import VERSION_1, from_version_1
from reports.words import best_first

#: Mode of a file that holds the seed: only its owner reads it.
SECRET = 0o600

_Kind = TypeVar("_Kind", BatchResults, Card)


class Unreadable(ValueError):
    """A folder does not hold results that can be rendered; the message says what to do."""


class Unwritable(ValueError):
    """A folder cannot take results; the message says why."""


class Taken(Unwritable):
    """A card is named like another submission's; the message says whose that is."""


def prepare(out: Path) -> None:
    """Make the folder for the results of a batch, and try it, before hours go into them.

    Raises:
        Unwritable: it cannot be made, or nothing can be written to it.
    """
    trial = out / "cards" / f".{secrets.token_hex(4)}.tmp"
    try:
        save(trial, b"")
        trial.unlink()
    except Unwritable as error:
        raise Unwritable(f"{out} cannot take results: {error}; choose another folder") from error


def write(
    results: BatchResults,
    cards: Iterable[Card],
    out: Path,
    *,
    opinions: Opinions | None = None,
    look_alikes: Sequence[LookAlike] = (),
    language: Language = ENGLISH,
) -> None:
    """Write every report of a batch into ``out``, the cards first and ``index.html`` last.

    ``cards`` may be a generator; one card is held at a time. A card that names no page of its
    own in ``result.card`` is left out. ``opinions`` are what people wrote, ``look_alikes``
    the pairs that a person should look at together.
    Pages are in ``language``; what programs read is in English.
    """
    for card in cards:
        context = context_of(card, opinions or Opinions())
        write_card(card, out, context, language=language)
    link_neighbours(results, out, language)
    save(out / "results.json", to_json(results), mode=SECRET)
    save(out / "results.jsonl", b"".join(map(_line, results.submissions)), mode=SECRET)
    save(out / "results.csv", render_csv(results).encode())
    save(out / "junit.xml", render_junit(results).encode())
    save(out / "summary.md", render_summary(results).encode())
    written = render_pages(results, opinions, look_alikes)
    for name, page in reversed(written.items()):
        save(out / name, translated(page, language).encode())
    for path in out.glob("index-*.html"):
        if path.name not in written and re.fullmatch(r"index-\d+\.html", path.name):
            path.unlink(missing_ok=True)  # of a larger batch, before


def _line(submission: SubmissionResult) -> bytes:
    return msgspec.json.encode(submission) + b"\n"


def write_card(
    card: Card, out: Path, context: Context | None = None, *, language: Language = ENGLISH
) -> None:
    """Write one card's page, and its content as JSON beside it.

    Raises:
        Taken: another submission's card is there, which is left as it is.
        Unwritable: the system does not let it.
    """
    link = card_link(card.result.card)
    if link:
        page = out / link
        _require_free(page, card.result.id)
        save(page.with_suffix(".json"), to_json(card))
        save(page, translated(render_card(card, context), language).encode())
        for code in _codes(card):
            write_card(code, out, Context(index="../index.html"), language=language)


def context_of(card: Card, opinions: Opinions, *, form: str = "") -> Context:
    """Return what stands around a card in the folder of its batch."""
    return Context(
        index="../index.html",
        graded=card.result.graded,
        decisions=opinions.decisions_on(card.result.id),
        notes=opinions.notes_on(card.result.id),
        form=form,
    )


def neighbours(results: BatchResults, link: str) -> tuple[str, str]:
    """Return the cards before and after one in the batch's page; "" is none."""
    links = [own for one in best_first(results.submissions) if (own := card_link(one.card))]
    place = links.index(link)
    return (links[place - 1] if place else ""), (links[place + 1] if links[place + 1 :] else "")


def link_neighbours(results: BatchResults, out: Path, language: Language = ENGLISH) -> None:
    """Link the page of each submission to those before and after it in the batch's page.

    Who they are is known only when all are graded; the pages were written before.
    """
    links = [card_link(one.card) for one in best_first(results.submissions)]
    there = [link for link in links if link and (out / link).exists()]
    for before, link, after in zip(["", *there], there, [*there[1:], ""], strict=False):
        page = (out / link).read_bytes()
        whole = with_neighbours(page.decode(), Path(before).name, Path(after).name)
        linked = translated(whole, language).encode()
        if linked != page:
            save(out / link, linked)


def write_candidate(card: Card, out: Path, *, language: Language = ENGLISH) -> None:
    """Write what the author of a submission may see, as a page and as JSON, to ``candidate/``.

    These two files, and nothing else in ``out``, are fit to be handed out.

    Raises:
        Taken: what another submission's author may see is there, and is left as it is.
        Unwritable: the system does not let it.
    """
    link = card_link(card.result.card)
    if link:
        told = for_candidate(card)
        page = out / "candidate" / Path(link).name
        _require_free(page, told.id)
        save(page.with_suffix(".json"), to_json(told))
        save(page, translated(render_candidate(told), language).encode())


def load(folder: Path) -> BatchResults:
    """Read ``results.json``; raise `Unreadable` when it is missing or of another version."""
    return _read(folder / "results.json", BatchResults)


def load_cards(results: BatchResults, folder: Path) -> Iterator[Card]:
    """Read the cards of a batch one by one; a card that is not there is left out."""
    for submission in results.submissions:
        link = card_link(submission.card)
        path = (folder / link).with_suffix(".json")
        if link and path.exists():
            yield _read(path, Card)


def remove_card(page: str, out: Path) -> None:
    """Remove what was written of one submission, for the interviewer and for its author."""
    if link := card_link(page):
        try:
            for own in _code_pages(out / link):
                remove_card(own, out)
            for path in (out / link, out / "candidate" / Path(link).name):
                path.unlink(missing_ok=True)
                path.with_suffix(".json").unlink(missing_ok=True)
        except OSError as error:
            raise Unwritable(f"{out / link} cannot be removed ({error.strerror})") from error


def _code_pages(page: Path) -> list[str]:
    """Return the pages of code that stands in a form, by the form's page."""
    try:
        card = msgspec.json.decode(page.with_suffix(".json").read_bytes(), type=Card)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return []
    return [code.result.card for code in _codes(card)]


def _codes(card: Card) -> list[Card]:
    """Return the cards of the code in a form's answers."""
    return [question.code for question in card.questions if question.code]


def save(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file under another name and rename it, so that it is never half there.

    ``mode`` are its permissions, where they are not the usual ones.

    Raises:
        Unwritable: the system does not let it.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if mode is not None:
                unfinished.touch(mode)
            unfinished.write_bytes(content)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise Unwritable(f"{path} cannot be written ({error.strerror})") from error


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    try:
        content = path.read_bytes()
        version = msgspec.json.decode(content, type=_Version).schema
        if version == VERSION_1:
            return msgspec.convert(from_version_1(msgspec.json.decode(content)), type=kind)
        if version != SCHEMA:
            raise Unreadable(f"{path} has schema {version!r}, expected {SCHEMA!r}; grade again")
        return msgspec.json.decode(content, type=kind)
    except FileNotFoundError:
        raise Unreadable(
            f"{path} is missing, expected the results of a batch; give the folder of --out"
        ) from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read ({error}); grade again") from error


def _require_free(page: Path, identifier: str) -> None:
    """Check that a page is nobody's, or that of this submission, graded before."""
    path = page.with_suffix(".json")
    try:
        owner = msgspec.json.decode(path.read_bytes(), type=_Owned).owner
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return
    except OSError as error:
        raise Unwritable(f"{path} cannot be read ({error.strerror})") from error
    if owner != identifier:
        raise Taken(f"{page} is the card of {owner}, expected none or that of {identifier}")


class _Result(msgspec.Struct, frozen=True):
    id: str = ""


class _Owned(msgspec.Struct):
    """Whose a card is, an interviewer's or a candidate's."""

    id: str = ""
    result: _Result = _Result()

    @property
    def owner(self) -> str:
        return self.id or self.result.id


class _Version(msgspec.Struct):
    schema: str = ""
