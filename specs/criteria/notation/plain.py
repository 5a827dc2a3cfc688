"""Text brought to one spelling, and what people call a length."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

CAP: Final = 2000  #: characters of one answer that are looked at
_RAISED: Final = str.maketrans({"⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "⁴": "^4"})
_LATEX: Final = (
    "\\times", "\\cdot", "\\text", "\\mathrm", "\\mathbb", "\\left", "\\right", "\\infty",
    "\\top",
)  # fmt: skip

#: What people call a length -> what the form calls it.
NAMES: Final = {
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
LENGTHS: Final = frozenset(NAMES.values())


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


def before_any(text: str, marks: Iterable[str]) -> str:
    """Return what stands before the first of some marks, unless that is nothing."""
    cut = min((place for mark in marks if (place := text.find(mark)) > 0), default=len(text))
    return text[:cut]
