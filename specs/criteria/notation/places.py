"""Which dimension of the scores is meant, and whose row or column."""

from __future__ import annotations

import re
from typing import Final

from specs.criteria.notation.clauses import affirmed, denies
from specs.criteria.notation.plain import before_any, plain

#: Dimensions of [B, H, T_q, T_k] -> what they are called, by name, index from the end and place.
_AXES: Final = {
    "keys": {"-1", "3", "last", "fourth", "4th", "key", "keys", "k", "tk", "lk", "sk", "nk"},
    "queries": {"-2", "2", "third", "3rd", "query", "queries", "q", "tq", "lq", "sq", "nq"},
    "heads": {"-3", "1", "second", "2nd", "head", "heads", "h"},
    "batch": {"-4", "0", "first", "1st", "batch", "b"},
    "features": {"features", "feature", "dmodel", "dk", "dv"},
}

_ORDINALS: Final = (("一1", "first"), ("二2", "second"), ("三3", "third"), ("四4", "fourth"))

#: "for each query", "在每个 query 上": who normalises, not what over.
_EACH: Final = re.compile(
    r"(?:for each|for every|per|each|every|one|a) (?:single |given )?(?:query|queries|q|head|row)\b"
    r"(?:'s)?(?: position| token| vector)?"
    r"|[在对]?(?:每一?[个行条]?|各个?)\s?(?:query|queries|q|查询|头|head)"
)
#: "第 4 维", "最后一维": places, in the words of ``_AXES``.
_PLACES: Final = (
    (re.compile(r"最后|倒数第\s?[一1]"), " last "),
    (re.compile(r"倒数第\s?[二2]"), " -2 "),
    *((re.compile(rf"第\s?[{digit}]\s?个?维"), f" {word} ") for digit, word in _ORDINALS),
)
_SHAPE: Final = re.compile(r"[\[(][^\[\]()]*,[^\[\]()]*[\])]")
#: A sentence about what would be wrong.
_WARNS: Final = re.compile(r"错|不对|mistake|wrong|incorrect|confus|\berror")
_SENTENCES: Final = re.compile(r"[。!?\n;]|\.(?!\d)")
#: What speaks of a dimension, in a clause.
_OF_AXIS: Final = re.compile(
    r"维|\bdim|\baxis|\baxes|\balong\b|\bover\b|\bacross\b|沿|\blast\b|-\d|归一"
)


def axis(text: str) -> str | None:
    """Read the name or index of one dimension of [B, H, T_q, T_k]; None also for several.

    Sentences about mistakes, and the shape itself, are passed over; where clauses speak of a
    dimension and others of something else, the former count.
    """
    said = _SHAPE.sub(" ", _in_english(before_any(plain(text), ("rather", "instead"))))
    sentences = [part for part in _SENTENCES.split(said) if not _WARNS.search(part)]
    said = _EACH.sub(" ", "\n".join(sentences))
    for place, word in _PLACES:
        said = place.sub(word, said)
    clauses = affirmed(said)
    return _axis_of([c for c in clauses if _OF_AXIS.search(c)]) or _axis_of(clauses)


def _axis_of(clauses: list[str]) -> str | None:
    found = {word for clause in clauses for word in words(clause)}
    # Beside a name a number may be anything: "the weights over the keys sum to 1".
    names = {word for word in found if word.strip("-").isalpha()}
    for spelled in (names, found):
        named = [name for name, spellings in _AXES.items() if spellings & spelled]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def words(text: str) -> list[str]:
    """Split into words and whole numbers; a minus belongs to the number that it stands before."""
    spaced = []
    for place, character in enumerate(text):
        if place and character.isascii() != text[place - 1].isascii():
            spaced.append(" ")  # between Chinese and the Latin letters in it
        sign = (
            character == "-"
            and text[place + 1 : place + 2].isdecimal()
            and not text[max(place - 1, 0) : place].isalnum()
        )
        spaced.append(character if character.isalnum() or sign else " ")
    return "".join(spaced).split()


_QUERY: Final = {"query", "queries", "q", "qi", "qj"}
_KEY: Final = {"key", "keys", "k", "ki", "kj"}
_ROLE: Final = r"(quer(?:y|ies)|keys?)"


def role(text: str, index: str = "") -> str | None:
    """Return "query" or "key", whichever is named; None for both, or a denial only.

    With an ``index``, "i" or "j", the one counts that has it: "query i gives key j this weight".
    """
    english = _in_english(plain(text))
    said = "\n".join(affirmed(english))
    indexed = (
        rf"第\s*{index}\s*个?\s*{_ROLE}|\b{_ROLE}\s*(?:number )?{index}\b|\b{index}-?th {_ROLE}"
        rf"|\b([qk])\s*\[?{index}\b"
    )
    belongs = rf"作为\s*{_ROLE}|\bas (?:an? |the )?{_ROLE}|\bbelongs to (?:an? |the )?{_ROLE}"
    about = [
        sentence
        for sentence in _SENTENCES.split(english)
        if not denies(sentence) and re.search(rf"(?<![a-z]){index}(?![a-z])", sentence)
    ]
    for pattern, place in ((indexed if index else "(?!)", said), (belongs, "\n".join(about))):
        found = {"".join(match)[0] for match in re.findall(pattern, place)}
        if found:
            return _ROLES[found.pop()] if len(found) == 1 else None
    named = set(words("\n".join(about) if index and about else said))
    is_query, is_key = bool(named & _QUERY), bool(named & _KEY)
    if is_query == is_key:
        return None
    return "query" if is_query else "key"


_ROLES: Final = {"q": "query", "k": "key"}


def _in_english(text: str) -> str:
    return text.replace("查询", " query ").replace("键", " key ")
