"""The submission's source as lines of tokens, ready to be escaped one by one."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from harness.results import CardSource
from harness.text import visible


class Token(NamedTuple):
    """A run of text of one kind; the kind is one of ours, never a class from outside."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file."""

    number: int
    anchor: str  #: "L12" in the first file, "f2-L12" in the second
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One file as it is shown."""

    name: str
    lines: tuple[Line, ...]
    hidden: int  #: lines left out at the end


#: Pygments' short class, by its first letters, to the kinds that the style sheet knows.
_KINDS: Final = {
    "k": "keyword",
    "ow": "keyword",
    "c": "comment",
    "s": "string",
    "m": "literal",
    "nf": "name",
    "nc": "name",
    "fm": "name",
    "nd": "decorator",
    "nb": "builtin",
    "bp": "builtin",
}

# The whole of what the formatter writes with nowrap: text, entities, and spans that do not nest.
# Possessive, so that a text that breaks the rule is refused in linear time.
_PIECE: Final = r'<span class="([a-z0-9]{1,4})">([^<>]*+)</span>|([^<>]++)'
_PIECES: Final = re.compile(_PIECE)
_MARKUP: Final = re.compile(f"(?:{_PIECE})*+")

#: Bytes of mark-up around one token and one line; the budget counts them.
_TOKEN_COST: Final = 24
_LINE_COST: Final = 40

#: Highlighting longer than this many times the budget is not even parsed.
_PARSED: Final = 6


def listings(sources: tuple[CardSource, ...], *, budget: int) -> tuple[Listing, ...]:
    """Return the files, cut so that their mark-up takes about ``budget`` bytes."""
    shown = []
    for position, source in enumerate(sources, start=1):
        listing, budget = _listing(source, "" if position == 1 else f"f{position}-", budget)
        shown.append(listing)
    return tuple(shown)


def _listing(source: CardSource, prefix: str, budget: int) -> tuple[Listing, int]:
    lines = _split(highlighted(_affordable(source, budget)))
    kept = []
    for number, tokens in enumerate(lines, start=1):
        budget -= _LINE_COST + sum(_cost(token) for token in tokens)
        if budget < 0:
            break
        kept.append(Line(number=number, anchor=f"{prefix}L{number}", tokens=tuple(tokens)))
    hidden = len(source.text.rstrip().split("\n")) - len(kept)
    return Listing(name=source.name, lines=tuple(kept), hidden=max(hidden, 0)), max(budget, 0)


def _affordable(source: CardSource, budget: int) -> CardSource:
    """Keep the start of a file that is too long to be shown anyway, without its highlighting."""
    if len(source.html) <= _PARSED * budget and len(source.text) <= budget:
        return source
    return CardSource(name=source.name, text=source.text[:budget])


def _cost(token: Token) -> int:
    markup = _TOKEN_COST if token.kind else 0
    return markup + len(html.escape(token.text).encode("utf-8", "replace"))


def highlighted(source: CardSource) -> list[Token]:
    """Return the tokens of a file; plain text unless its ``html`` is exactly what we expect.

    The highlighting was made next to candidate text, so it is data: it must consist of
    class-only spans, and its text must equal the file's.
    """
    tokens = _parsed(source.html.replace("\r\n", "\n")) if source.html else []
    text = "".join(token.text for token in tokens)
    plain = source.text.replace("\r\n", "\n")
    if text.strip("\n") != plain.strip("\n"):
        tokens = [Token("", plain)]
    elif missing := _leading(plain) - _leading(text):
        # A highlighter may drop blank lines at the start; line numbers must not move.
        tokens.insert(0, Token("", "\n" * missing))
    return [Token(token.kind, visible(token.text)) for token in tokens]


def _parsed(markup: str) -> list[Token]:
    """Return the tokens of highlighted text, neighbours of one kind merged; none if it is not.

    White space joins whatever it follows.
    """
    if not _MARKUP.fullmatch(markup):
        return []
    tokens: list[Token] = []
    kind, parts = "", [""]
    for name, inside, outside in _PIECES.findall(markup):
        text = inside or outside
        own = _kind(name) if name else ""
        if own != kind and text and not text.isspace():
            tokens.append(Token(kind, "".join(parts)))
            kind, parts = own, []
        parts.append(html.unescape(text) if "&" in text else text)
    tokens.append(Token(kind, "".join(parts)))
    return [token for token in tokens if token.text]


def _kind(name: str) -> str:
    return _KINDS.get(name[:2]) or _KINDS.get(name[:1], "")


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip("\n"))


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Cut tokens at line ends; a token over three lines becomes three."""
    lines: list[list[Token]] = [[]]
    for token in tokens:
        first, *rest = token.text.split("\n")
        if first:
            lines[-1].append(Token(token.kind, first))
        lines.extend([Token(token.kind, text)] if text else [] for text in rest)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def anchor_of(file: str, line: int | None, files: tuple[Listing, ...]) -> str:
    """Return the anchor of a line, or nothing when it is not shown.

    A file that is not named, or by a name that is not shown, is taken for the only one there is.
    """
    listing = next((one for one in files if one.name == file), None)
    if listing is None and files and (not file or len(files) == 1):
        listing = files[0]
    if listing is None or line is None or not 1 <= line <= len(listing.lines):
        return ""
    return listing.lines[line - 1].anchor
