"""Grades under aliases: whose a submission is stands in one file, and on no page.

Code is graded as it was handed in. What is hidden is in the cards: the words in the name of the
file or folder, those of everybody in the roster, and what a line says that begins with
``# Author:`` or the like.
"""

from __future__ import annotations

import builtins
import csv
import dataclasses
import hashlib
import io
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

import reports
from harness.errors import UsageError
from harness.intake import Batch
from harness.results import Card
from harness.roster import Person

#: Whose each alias is; beside the results, for its owner only.
NAMES_FILE: Final = "names.csv"
HIDDEN: Final = "[name]"
#: Words that name nobody, or that code could not be read without.
_COMMON: Final = frozenset(
    [
        *keyword.kwlist,
        *dir(builtins),
        *("answer", "answers", "assignment", "attention", "block", "cache", "candidate", "class"),
        *("code", "copy", "encoding", "final", "head", "heads", "homework", "interview", "main"),
        *("multi", "notebook", "numpy", "online", "python", "pytorch", "scaled", "sdpa", "self"),
        *("single", "softmax", "solution", "src", "submission", "take", "takehome", "task", "test"),
        *("torch", "transformer", "written"),
    ]
)
_SAID: Final = re.compile(
    r"^\s*(?:#|//|\"\"\")?\s*(?:__author__|author|authors|name|student|candidate|e-?mail|"
    r"作者|姓名|学号)\s*[:：=]\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Aliases:
    """What submissions are called instead, and what must not be seen of each."""

    names: Mapping[str, str]  #: alias -> id
    words: Mapping[str, frozenset[str]]  #: alias -> what is hidden, in lower case

    def conceal(self, card: Card) -> Card:
        """Return a card without the names of whoever wrote it."""
        sources = "\n".join(source.text for source in card.sources)
        said = {word for line in _SAID.findall(sources) for word in _telling(line)}
        wanted = sorted(self.words[card.result.id] | said, key=len, reverse=True)
        if not wanted:
            return card
        pattern = re.compile(
            "|".join(rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])" for word in wanted),
            re.IGNORECASE,
        )
        plain = msgspec.to_builtins(card)
        kept = plain["result"]["id"], plain["result"]["card"], plain["spec"], plain["title"]
        hidden = _replaced(plain, pattern)
        (hidden["result"]["id"], hidden["result"]["card"], hidden["spec"], hidden["title"]) = kept
        return msgspec.convert(hidden, Card)


def anonymous(batch: Batch, seed: str, people: Sequence[Person]) -> tuple[Batch, Aliases]:
    """Return a batch under aliases, which follow from the seed and so are the same each time."""
    everybody = frozenset(
        word
        for person in people
        for text in (person.name, person.id, person.login)
        for word in _of_text(text)
    )
    names, words, deliveries = {}, {}, []
    for delivery in batch.deliveries:
        alias = _alias(seed, delivery.id)
        names[alias] = delivery.id
        words[alias] = everybody.union(_of_text(delivery.path.stem), _of_text(delivery.id))
        deliveries.append(dataclasses.replace(delivery, id=alias))
    deliveries.sort(key=lambda delivery: delivery.id)  # another order than that of the names
    ignored = tuple(f"an entry{note[note.find(' is ') :]}" for note in batch.ignored)
    return Batch(deliveries=tuple(deliveries), ignored=ignored), Aliases(names, words)


def _alias(seed: str, identifier: str) -> str:
    text = identifier.encode("utf-8", "surrogatepass")
    return f"candidate-{hashlib.blake2b(text, key=seed.encode()[:64], digest_size=4).hexdigest()}"


def _of_text(text: str) -> Iterator[str]:
    """Yield the telling words of a text, and the whole of it if there are any."""
    words = list(_telling(text))
    yield from words
    if words:
        yield text.lower()


def _telling(text: str) -> Iterator[str]:
    """Yield the words of a text that may name somebody, in lower case."""
    for word in _WORD.findall(text):
        small = word.lower()
        if small not in _COMMON and (len(small) > 2 or not small.isascii()):
            yield small


def _replaced(value: Any, pattern: re.Pattern[str]) -> Any:
    """Return plain data with every match in its texts hidden; keys stay."""
    if isinstance(value, str):
        return pattern.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {key: _replaced(one, pattern) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(one, pattern) for one in value]
    return value


def save_names(folder: Path, names: Mapping[str, str]) -> Path:
    """Write whose each alias is, for the folder's owner only; return the file.

    Raises:
        Unwritable: the disk does not take it.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["alias", "id"])
    writer.writerows(sorted(names.items()))
    reports.save(folder / NAMES_FILE, buffer.getvalue().encode(), mode=0o600)
    return folder / NAMES_FILE


def forget_alias(folder: Path, alias: str) -> None:
    """Remove one person from the file of names, if there is one."""
    names = read_names(folder)
    if names.pop(alias, None) is not None:
        save_names(folder, names)


def read_names(folder: Path) -> dict[str, str]:
    """Return whose each alias in a folder is; nothing where it was graded under names.

    Raises:
        UsageError: the file is not as it was written.
    """
    file = folder / NAMES_FILE
    if not file.exists():
        return {}
    try:
        rows: Iterable[list[str]] = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
        return {row[0]: row[1] for row in list(rows)[1:]}
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}); grade again with --anonymise to have it written"
        ) from None
