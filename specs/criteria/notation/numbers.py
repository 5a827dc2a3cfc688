"""Numbers in answers: weights that share a whole, and by which factor something grows."""

from __future__ import annotations

import math
import re
from typing import Final

from specs.criteria.notation.clauses import affirmed, denies
from specs.criteria.notation.plain import after_last, plain

#: ``w1 = ``, ``weight 1: ``, ``p_2 ≈``: what a number is called.
_LABEL: Final = re.compile(
    r"\b[a-z]{1,12}[ (\[]?\d[)\]]?\s?[=≈:]|\b[a-z]{2,12}\s?[=≈]|[第位置个一二三四五]+\s?[=≈:为是约]*"
)
_POWER: Final = re.compile(r"e\^\(?-?\d\)?|\be\b|exp\(-?\d+\)")
_NO_NUMBER: Final = re.compile(r"\b(?:nan|inf)\b")
_NUMBER: Final = r"-?\d+(?:\.\d+)?(?:\s?%)?"
_BETWEEN: Final = r"(?:\s*(?:[,:;/|]|and|和|\s)\s*)+"
_RUN: Final = re.compile(rf"(?<![\w.^-]){_NUMBER}(?:{_BETWEEN}{_NUMBER})*(?![\w^])")


def proportions(text: str) -> tuple[float, ...] | None:
    """Read numbers or percentages, or powers of e, and divide them by their sum.

    Of several rows of numbers the one counts whose sum is 1.
    """
    if _NO_NUMBER.search(plain(text)):
        return None
    text = _POWER.sub(_decimal, _LABEL.sub(" ", plain(text)).replace("≈", " = "))
    runs = [_numbers(run) for run in _RUN.findall(text.translate(str.maketrans("[]()", "    ")))]
    rows = {run for run in runs if len(run) > 1}
    sharing = {run for run in rows if abs(sum(run) - 1) < 0.03}
    for kind in (sharing, rows):
        if len(kind) == 1:
            return _shares(kind.pop())
    return None


def _decimal(match: re.Match[str]) -> str:
    """Return a power of e as a decimal number."""
    exponent = re.search(r"-?\d+", match[0].removeprefix("e^"))
    power = int(exponent[0]) if exponent else 1
    return f"{math.exp(power):.6f}" if abs(power) < 10 else match[0]


def _numbers(run: str) -> tuple[float, ...]:
    numbers = [float(word.rstrip(" %")) for word in re.findall(_NUMBER, run)]
    scale = 0.01 if "%" in run else 1.0
    return tuple(number * scale for number in numbers)


def _shares(numbers: tuple[float, ...]) -> tuple[float, ...] | None:
    total = sum(numbers)
    fit = all(0 <= number < 1e6 for number in numbers)
    return tuple(number / total for number in numbers) if fit and total > 0 else None


_MULTIPLES: Final = {
    **dict.fromkeys(("double", "doubles", "twice", "two", "二", "两"), 2),
    **dict.fromkeys(("three", "threefold", "triple", "triples", "thrice", "三"), 3),
    **dict.fromkeys(("four", "fourfold", "quadruple", "quadruples", "四"), 4),
    **dict.fromkeys(("eight", "eightfold", "八"), 8),
    **dict.fromkeys(("nine", "ninefold", "九"), 9),
    **dict.fromkeys(("sixteen", "sixteenfold", "十六"), 16),
}
_TIMES: Final = re.compile(
    r"(\d{1,5}|十六|[二两三四八九])\s?倍"
    r"|\b(\d{1,5}|two|three|four|eight|nine|sixteen)(?:[\s-]times|[\s-]?fold)(?!\s*(?:\d|two|four))"
)
#: When it happens, and why: no part of the answer.
_ASIDE: Final = re.compile(
    r"\b(?:when|if|as|since|because|for|while)\b[^,;.。]*|(?:因为|由于|如果|当|假如)[^,;。]*"
    r"|(?:\bt|长度|序列|上下文|length|context)[^,;.。]{0,12}?(?:\d+|[两四三])\s?倍[^,;.。]*"
)


def factor(text: str) -> int | None:
    """Read ``4``, ``×4``, ``4x``, ``four times``, ``2^2``, ``(2T)² = 4T²`` or ``4 倍``."""
    text = plain(text)
    main = _ASIDE.sub(" ", text)
    for said in (text, main):
        times = {
            _MULTIPLES.get(number) or int(number)
            for clause in affirmed(said)
            for found in _TIMES.findall(clause)
            if (number := "".join(found))
        }
        if len(times) == 1:
            return times.pop()
    if times or _TIMES.search(text):
        return None
    return _bare_factor(text)


def _bare_factor(text: str) -> int | None:
    """Read a factor without "times": the one number that is there, or the result of a power."""
    found = set()
    text = " ".join(affirmed(text)) if denies(text) else text
    for word in after_last(text, ("=", "→", "->")).replace("×", " ").replace("-", " ").split():
        core = word.strip("x*().,;:!")
        rest = core.lstrip("0123456789")
        number = core[: len(core) - len(rest)]
        if number and len(number) < 6 and rest[:1] in ("", "t", "n", "l"):
            found.add(int(number))
        elif number and len(number) < 3 and rest in ("^2", "^3", "^4"):
            found.add(int(number) ** int(rest[1]))
        elif core in _MULTIPLES:
            found.add(_MULTIPLES[core])
    return found.pop() if len(found) == 1 else None
