"""Which submissions of a batch share so much that a person should look at both.

Winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003): every run of ``RUN`` tokens is hashed, and
of each ``WINDOW`` runs in a row the smallest hash is kept, so that any passage of
``RUN + WINDOW − 1`` tokens that two files share leaves a hash in both, wherever it stands. Names
are one token, since they are what is changed first; those of libraries and their attributes stay.
What the starter and the brief hold, and what a third of the cohort shares, is left out.

It is a hint and never a score: two right answers to one question are bound to be alike in parts.
"""

from __future__ import annotations

import dataclasses
import keyword
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

RUN: Final = 10  #: tokens
WINDOW: Final = 4  #: runs
#: Share of the smaller file's hashes that two files have in common.
SHARE: Final = 0.6
#: Hashes that a file must have left for a share of them to say anything.
FEWEST: Final = 10
#: Submissions that may share a hash before it counts as common, however small the cohort is.
_FEW: Final = 3
_COMMON: Final = 1 / 3

# Of linear time: no part can match what another before it has given up.
_TOKEN: Final = re.compile(
    r"(?P<skip>\"\"\".*?\"\"\"|'''.*?'''|\#[^\n]*|\s+)"
    r"|(?P<text>\"[^\"\n]*\"|'[^'\n]*')"
    r"|(?P<attribute>\.\s*[^\W\d]\w*)|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>.)",
    re.DOTALL,
)
_KEPT: Final = frozenset({*keyword.kwlist, "np", "numpy", "torch", "nn", "F", "math"})


@dataclasses.dataclass(frozen=True, slots=True)
class LookAlike:
    """Two submissions that a person should look at together."""

    left: str
    right: str
    is_same_file: bool = False


def tokens(text: str) -> list[str]:
    """Return the tokens of Python source: names as one, comments and long strings left out."""
    found = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "name":
            found.append(token if token in _KEPT else "name")
        elif kind in ("text", "number"):
            found.append(kind)
        elif kind != "skip":
            found.append(token)
    return found


def fingerprint(text: str) -> frozenset[int]:
    """Return the hashes that winnowing keeps of a text; the same text gives the same ones."""
    codes = [zlib.crc32(token.encode("utf-8", "replace")) for token in tokens(text)]
    runs = [hash(tuple(codes[at : at + RUN])) for at in range(len(codes) - RUN + 1)]
    if len(runs) <= WINDOW:
        return frozenset(runs[:1])
    return frozenset(min(runs[at : at + WINDOW]) for at in range(len(runs) - WINDOW + 1))


def look_alikes(
    prints: Mapping[str, frozenset[int]],
    digests: Mapping[str, str],
    given: Iterable[str] = (),
) -> list[LookAlike]:
    """Return the pairs to look at, those of one content first, in whatever order they came in.

    Args:
        prints: the fingerprint of each submission.
        digests: the sha256 of each submission.
        given: texts that everybody had: starter and brief.
    """
    known = frozenset[int]().union(*(fingerprint(text) for text in given))
    spread = Counter(value for own in prints.values() for value in own)
    most = max(_FEW, int(_COMMON * len(prints)))
    telling = {
        name: frozenset(value for value in own if value not in known and spread[value] <= most)
        for name, own in prints.items()
    }
    holders: dict[int, list[str]] = {}
    for name, own in sorted(telling.items()):
        for value in own:
            holders.setdefault(value, []).append(name)
    shared = Counter(
        pair for names in holders.values() if len(names) > 1 for pair in combinations(names, 2)
    )
    pairs = [
        LookAlike(*pair)
        for pair, count in sorted(shared.items(), key=lambda item: (-item[1], item[0]))
        if (smaller := min(len(telling[name]) for name in pair)) >= FEWEST
        and count >= SHARE * smaller
        and digests.get(pair[0]) != digests.get(pair[1])
    ]
    return [*_same_files(digests), *pairs]


def _same_files(digests: Mapping[str, str]) -> list[LookAlike]:
    by_content: dict[str, list[str]] = {}
    for name, digest in sorted(digests.items()):
        by_content.setdefault(digest, []).append(name)
    return [
        LookAlike(names[0], other, is_same_file=True)
        for names in by_content.values()
        for other in names[1:]
    ]
