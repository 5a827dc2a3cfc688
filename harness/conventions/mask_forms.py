"""The forms in which a submission may want a mask: its meaning, its numbers, its axes.

Inside, a mask is whole: True = may attend, for every item, head, query and key. A form leaves axes
out: one that says nothing of queries, (B, Tk), cannot tell one query from another, so that a call
has to be made for each.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

Floats = np.ndarray[Any, Any]

#: Blocks a score in every format but float16, and needs no guard for a row without a key.
ADDED: Final = -1e9

MEANINGS: Final[Mapping[str, str]] = {
    "keep": "{one} may attend",
    "block": "{one} blocks",
    "additive": "added to the scores",
    "lengths": "the number of keys of each item",
}
_ONE: Final = {"bool": "True", "int": "1", "float": "1.0"}
_AXES: Final = {"b": "B", "h": "H", "q": "Tq", "k": "Tk", "1": "1"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MaskForm:
    """How a mask is written."""

    meaning: str = "keep"  #: a key of ``MEANINGS``
    kind: str = "bool"  #: bool, int or float
    axes: str = ""  #: letters of b, h, q, k and 1, or "" for the shape that the brief gives

    def words(self, brief: MaskForm) -> str:
        """What is said of it, or "" when it is the brief's."""
        if self == brief:
            return ""
        said = MEANINGS[self.meaning].format(one=_ONE[self.kind])
        if self.axes and self.meaning != "lengths":
            names = ", ".join(_AXES[letter] for letter in self.axes)
            said += f", of shape ({names}{',' if len(self.axes) == 1 else ''})"
        return said

    def write(self, whole: Floats, axes: str, dtype: Any) -> Floats:
        """Write a mask of the given axes, which holds the same for those that the form leaves out.

        ``dtype`` is that of a floating mask.
        """
        if not axes:
            return self._valued(whole, dtype)
        if self.meaning == "lengths":
            return self._valued(np.count_nonzero(whole, -1).reshape(len(whole), -1)[:, 0], dtype)
        wanted = self.axes or axes
        index = tuple(slice(None) if letter in wanted else 0 for letter in axes)
        kept = [letter for letter in axes if letter in wanted]
        array = whole[index].transpose([kept.index(x) for x in wanted if x in kept])
        array = array[tuple(None if letter == "1" else slice(None) for letter in wanted)]
        return self._valued(array, dtype)

    def _valued(self, array: Floats, dtype: Any) -> Floats:
        match self.meaning:
            case "lengths":
                return array.astype(np.int64)
            case "additive":
                return np.where(array, 0.0, ADDED).astype(dtype)
            case "block":
                array = ~array
        kinds = {"bool": np.dtype(bool), "int": np.dtype(np.int64), "float": np.dtype(dtype)}
        return np.ascontiguousarray(array.astype(kinds[self.kind]))


def forms(brief: MaskForm, headed: bool) -> Iterator[MaskForm]:
    """Yield the forms to try, the brief's first, from the most to the least common."""
    shapes = ["", *(["bhqk", "b1qk"] if headed else []), "bqk", "qk", "bk", "qkb"]
    # What computes with 1 - mask takes an added mask as well, and gives all kept keys one score.
    values = [(meaning, kind) for kind in ("bool", "int", "float") for meaning in ("keep", "block")]
    values.append(("additive", "float"))
    values.sort(key=lambda pair: pair != (brief.meaning, brief.kind))
    for axes, (meaning, kind) in itertools.product(shapes, values):
        yield MaskForm(meaning=meaning, kind=kind, axes=axes)
    yield MaskForm(meaning="lengths", kind="int", axes="b")
