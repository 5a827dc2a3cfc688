"""Short written answers read as values, whatever notation they are in.

Every reader takes text of any length, looks at its beginning, goes through it once, and returns
None when it finds nothing that it knows. Nothing is evaluated.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable

from specs.criteria.clauses import affirmed, denies

CAP = 2000  #: characters of one answer that are looked at
_RAISED = str.maketrans({"⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "⁴": "^4"})
_LATEX = ("\\times", "\\cdot", "\\text", "\\mathrm", "\\mathbb", "\\left", "\\right", "\\infty")

#: What people call a length -> what the form calls it.
NAMES = {
    **dict.fromkeys(("b", "batch", "batchsize", "bs"), "b"),
    **dict.fromkeys(("h", "heads", "head", "numheads", "nheads", "nhead"), "h"),
    **dict.fromkeys(("t", "n", "l", "s", "seqlen", "seq", "length", "len"), "t"),
    **dict.fromkeys(("tq", "lq", "nq", "sq", "lenq", "seqlenq"), "tq"),
    **dict.fromkeys(("tk", "lk", "nk", "sk", "lenk", "seqlenk"), "tk"),
    **dict.fromkeys(("dmodel", "d", "dim", "demb", "embdim", "embeddim", "hidden"), "dmodel"),
    **dict.fromkeys(("dhead", "headdim", "dh", "hd"), "dhead"),
    **dict.fromkeys(("dk", "dq", "dqk"), "dk"),
    "dv": "dv",
    **dict.fromkeys(("dmodelh", "dmodelheads", "dmodelnumheads", "dmodelnheads"), "dhead"),
    **dict.fromkeys(("批", "批次", "批量", "批大小", "批量大小"), "b"),
    **dict.fromkeys(("头", "头数", "注意力头数"), "h"),
    **dict.fromkeys(("长度", "序列", "序列长度", "句长"), "t"),
    **dict.fromkeys(("查询", "查询数", "查询长度"), "tq"),
    **dict.fromkeys(("键", "键数", "键长度"), "tk"),
    **dict.fromkeys(("维度", "模型维度", "特征维度", "隐藏维度"), "dmodel"),
    **dict.fromkeys(("头维度", "每头维度"), "dhead"),
}


def plain(text: str) -> str:
    """Bring text to lower-case ASCII where that has the same meaning; ² becomes ^2."""
    text = unicodedata.normalize("NFKC", text[:CAP].translate(_RAISED)).lower()
    for before, after in (
        ("\\times", "×"),
        ("\\cdot", "*"),
        ("\\infty", "∞"),
        ("−", "-"),
        ("、", ","),
    ):
        text = text.replace(before, after)
    for command in _LATEX:
        text = text.replace(command, "")
    return text.translate(str.maketrans("", "", "$\\`{}_"))


def after_last(text: str, marks: Iterable[str]) -> str:
    """Return what follows the last of some marks."""
    for mark in marks:
        text = text.rpartition(mark)[2]
    return text


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


def before_any(text: str, marks: Iterable[str]) -> str:
    """Return what stands before the first of some marks, unless that is nothing."""
    cut = min((place for mark in marks if (place := text.find(mark)) > 0), default=len(text))
    return text[:cut]


def shape(text: str) -> tuple[str, ...] | None:
    """Read ``[B, H, T_q, T_k]``, ``(B,H,Tq,Tk)``, ``B x H x T_q x T_k`` or ``torch.Size([2, 4])``.

    Lengths come back in lower case without underscores, under the form's names; a word that is no
    length makes it no shape.
    """
    inside = _bracketed(plain(text))
    if "," not in inside:
        for separator in ("×", "*", "·", ";", "x"):
            inside = inside.replace(separator, ",")
    parts = inside.split(",") if "," in inside else inside.split()
    names = ["".join(filter(str.isalnum, part)) for part in parts]
    lengths = tuple(NAMES.get(name, name) for name in names if name)
    known = all(length.isdecimal() or length in _LENGTHS for length in lengths)
    return lengths if lengths and known else None


_LENGTHS = frozenset(NAMES.values())


def _bracketed(text: str) -> str:
    text = before_any(text, ("#", "//"))
    for opening, closing in (("[", "]"), ("(", ")")):
        if opening in text:
            return text.partition(opening)[2].partition(closing)[0]
    return after_last(text, ("=", ":", "∈", "^")).strip()


_ALLOWED = {"1", "1.0", "true", "✓", "✔", "√", "yes"}
_BLOCKED = {"0", "0.0", "false", "✗", "✘", "×", "x", ".", "no"}
_ADDED = {"-inf", "-∞", "-infinity"}


def grid(text: str, size: int) -> tuple[bool, ...] | None:
    """Read a square matrix of who may attend, row by row: 1 and 0, True and False, 0 and -inf.

    Labels, brackets and rules of tables are passed over; ``tril(…)`` is the lower triangle.
    """
    text = plain(text)
    if "tril(" in text and not any(word in text for word in ("triu", "diagonal", "k=", "~", "not")):
        return tuple(j <= i for i in range(size) for j in range(size))
    cells: list[str] = []
    for line in text.splitlines():
        for word in line.rpartition(":")[2].translate(str.maketrans("[](),;|", "       ")).split():
            if len(word) == size > 1 and set(word) <= {"0", "1"}:
                cells += word
            elif word in _ALLOWED or word in _BLOCKED or word in _ADDED:
                cells.append(word)
    if len(cells) != size * size:
        return None
    if _ADDED & set(cells):
        return tuple(cell not in _ADDED for cell in cells)
    return tuple(cell in _ALLOWED for cell in cells)


#: ``w1 = ``, ``weight 1: ``, ``p_2 ≈``: what a number is called.
_LABEL = re.compile(r"\b[a-z]{1,12}[ (\[]?\d[)\]]?\s?[=≈:]|\b[a-z]{2,12}\s?[=≈]")
_POWERS = {"e^2": math.e**2, "e^1": math.e, "e": math.e, "e^0": 1.0}


def proportions(text: str) -> tuple[float, ...] | None:
    """Read numbers or percentages, or powers of e, and divide them by their sum."""
    text = after_last(_LABEL.sub(" ", plain(text)), ("=", "≈", "~")).replace("%", " ")
    numbers = []
    for word in text.translate(str.maketrans("[](),;:/", "        ")).split():
        try:
            number = _POWERS[word] if word in _POWERS else float(word)
        except ValueError:
            continue
        if not 0 <= number < 1e6:
            return None
        numbers.append(number)
    total = sum(numbers)
    return tuple(number / total for number in numbers) if total > 0 else None


def growth(text: str) -> frozenset[tuple[int, int]] | None:
    """Read ``O(T²d)``, ``O(T^2 * d_model)`` or ``B·H·T²``: exponents of T and d of each term.

    Constants, the batch and the number of heads are left out; d_k, d_v and d_head count as d.
    """
    text = plain(text).replace("**", "^")
    if denies(text):
        text = max(affirmed(text), key=lambda clause: "(" in clause, default="")
    begin = max(text.find("o("), text.find("θ("))
    if begin >= 0:
        text = _closed(text[begin + 2 :])
    text = after_last(text, ("=", ":", "~"))
    terms = {_monomial(term) for term in text.split("+")}
    return None if None in terms else frozenset(term for term in terms if term is not None)


def _closed(text: str) -> str:
    """Return what stands before the parenthesis that closes one opened before."""
    depth = 1
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:place]
    return text


def _monomial(term: str) -> tuple[int, int] | None:
    exponents = {"t": 0, "d": 0}
    base, place = "", 0
    while place < len(term):
        character = term[place]
        if character == "^":
            digit = term[place + 1 : place + 2]
            if not digit.isdecimal() or not base:  # "፩" is a digit that int refuses
                return None
            exponents[base] = exponents.get(base, 0) + int(digit) - 1
            place += 2
        elif character.isalpha() and character != "x":  # x multiplies
            name = next((n for n in _LONGEST_FIRST if term.startswith(n, place)), None)
            if name is None:
                return None
            base = {"t": "t", "tq": "t", "tk": "t", "b": "b", "h": "h"}.get(NAMES[name], "d")
            exponents[base] = exponents.get(base, 0) + 1
            place += len(name)
        else:
            place += 1
    if exponents == {"t": 0, "d": 0}:
        return None
    # h heads of width d_head are d_model together, which the form calls d.
    return exponents["t"], exponents["d"]


_LONGEST_FIRST = sorted(NAMES, key=len, reverse=True)

_MULTIPLES = {
    **dict.fromkeys(("double", "doubles", "twice", "two", "二", "两"), 2),
    **dict.fromkeys(("four", "fourfold", "quadruple", "quadruples", "四"), 4),
    **dict.fromkeys(("eight", "eightfold", "八"), 8),
    **dict.fromkeys(("sixteen", "sixteenfold", "十六"), 16),
}


_TIMES = re.compile(r"(\d{1,5}|十六|[二两四八])\s?倍")


def factor(text: str) -> int | None:
    """Read ``4``, ``×4``, ``4x``, ``four times``, ``2^2``, ``(2T)² = 4T²`` or ``4 倍``."""
    text = plain(text)
    times = {
        _MULTIPLES.get(number) or int(number)
        for clause in affirmed(text)
        for number in _TIMES.findall(clause)
    }
    if times:
        return times.pop() if len(times) == 1 else None
    found = set()
    text = " ".join(affirmed(text)) if denies(text) else text
    for word in after_last(text, ("=", "→", "->")).replace("×", " ").replace("-", " ").split():
        core = word.strip("x*().,;")
        rest = core.lstrip("0123456789")
        number = core[: len(core) - len(rest)]
        if number and len(number) < 6 and rest[:1] in ("", "t", "n", "l"):
            found.add(int(number))
        elif number and len(number) < 3 and rest in ("^2", "^3", "^4"):
            found.add(int(number) ** int(rest[1]))
        elif core in _MULTIPLES:
            found.add(_MULTIPLES[core])
    return found.pop() if len(found) == 1 else None


_KINDS = {
    "quadratic": ("quadratic", "square", "平方", "二次"),
    "exponential": ("exponential", "指数"),
    "constant": ("constant", "不变", "常数"),
    "linear": ("linear", "线性"),
}
_POWERS_OF_T = {0: "constant", 1: "linear", 2: "quadratic"}
_PROPORTIONAL = re.compile(r"proportional(?:ly)?(?: to)?|正比于?")
_FLAT = re.compile(r"not grow|n't grow|不增长|不随")


def kind_of_growth(text: str) -> str | None:
    """Read a word for a growth in T, or O(…): linear, quadratic, constant or exponential.

    None when several are affirmed.
    """
    said = plain(text)
    found = {"constant"} if _FLAT.search(said) else set()
    for clause in affirmed(before_any(said, ("rather", "instead"))):
        words_of = {kind for kind, marks in _KINDS.items() if any(m in clause for m in marks)}
        terms = growth(_PROPORTIONAL.split(clause)[-1]) if not words_of else None
        if terms is not None:
            words_of = {_POWERS_OF_T.get(max(t for t, _ in terms), "")}
        found |= words_of
    return found.pop() or None if len(found) == 1 else None


#: Dimensions of [B, H, T_q, T_k] -> what they are called, by name, index from the end and place.
_AXES = {
    "keys": {"-1", "3", "last", "fourth", "4th", "key", "keys", "k", "tk", "lk", "sk", "nk"},
    "queries": {"-2", "2", "third", "3rd", "query", "queries", "q", "tq", "lq", "sq", "nq"},
    "heads": {"-3", "1", "second", "2nd", "head", "heads", "h"},
    "batch": {"-4", "0", "first", "1st", "batch", "b"},
    "features": {"features", "feature", "dmodel", "dk", "dv"},
}


_ORDINALS = (("一1", "first"), ("二2", "second"), ("三3", "third"), ("四4", "fourth"))

#: "for each query", "在每个 query 上": who normalises, not what over.
_EACH = re.compile(
    r"(?:for each|for every|per|each|every) \w+"
    r"|[在对]?(?:每一?[个行条]?|各个?)\s?(?:query|queries|q|查询|头|head)"
)
#: "第 4 维", "最后一维": places, in the words of ``_AXES``.
_PLACES = (
    (re.compile(r"最后|倒数第\s?[一1]"), " last "),
    (re.compile(r"倒数第\s?[二2]"), " -2 "),
    *((re.compile(rf"第\s?[{digit}]\s?个?维"), f" {word} ") for digit, word in _ORDINALS),
)


def axis(text: str) -> str | None:
    """Read the name or index of one dimension of [B, H, T_q, T_k]; None also for several."""
    said = _EACH.sub(" ", _in_english(before_any(plain(text), ("rather", "instead"))))
    for place, word in _PLACES:
        said = place.sub(word, said)
    found = {word for clause in affirmed(said) for word in words(clause)}
    # Beside a name a number may be anything: "the weights over the keys sum to 1".
    names = {word for word in found if word.strip("-").isalpha()}
    for spelled in (names, found):
        named = [name for name, spellings in _AXES.items() if spellings & spelled]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def role(text: str) -> str | None:
    """Return "query" or "key", whichever is named; None for both, or a denial only."""
    found = {word for clause in affirmed(_in_english(plain(text))) for word in words(clause)}
    is_query = bool(found & {"query", "queries", "q", "qi"})
    is_key = bool(found & {"key", "keys", "k", "kj"})
    if is_query == is_key:
        return None
    return "query" if is_query else "key"


def _in_english(text: str) -> str:
    return text.replace("查询", " query ").replace("键", " key ")
