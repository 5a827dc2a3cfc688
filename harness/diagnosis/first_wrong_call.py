"""The most telling wrong call of an entry point, and what flaws give for it.

Every flaw and every pair is tried on this call first, so what they give is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate import Recorded
from harness.diagnosis.distance import Distance, distance, fits, outputs, raised_alike, same
from harness.diagnosis.explained_share import Floats, explained_variance_of_pairs
from harness.protocol import Output, Tensor
from harness.spec import Expected, Flaw, Spec

Explanation = tuple[Flaw, ...]
Given = tuple[Expected, ...] | str

#: A call of so many values tells most functions apart, and costs no more than a smaller one.
TELLING_SIZE: Final = 400


def most_informative_wrong_call(
    spec: Spec, calls: Sequence[Recorded], failed: Collection[str]
) -> FirstWrongCall | None:
    """Return the most telling call of a failed check that no style of the reference gives."""
    styles = tuple(spec.in_styles())
    made = [style.expect(style.reference) for style in styles]
    for call in sorted((call for call in calls if call.check in failed), key=_telling):
        if not any(distance(call, outputs(call, one)).fits for one in made):
            return FirstWrongCall(spec, styles, call)
    return None


class FirstWrongCall:
    """One wrong call, in the styles of the reference that may differ on it."""

    def __init__(self, spec: Spec, styles: Sequence[Spec], call: Recorded) -> None:
        self.call = call
        self._used = used(spec.reference, lambda parts: outputs(call, spec.expect(parts)))
        parts = [self._used & _differing(style, spec) for style in styles]
        some = [(one, own) for one, own in zip(styles, parts, strict=True) if own or one is spec]
        self._styles, self._parts_of_style = zip(*some, strict=True)
        self._given: dict[tuple[Explanation, int], Given] = {}
        self._styled: dict[Flaw, bool] = {}

    @property
    def raised(self) -> bool:
        """Whether what is wrong is that it raised."""
        return self.call.answer.raised is not None

    def uses(self, flaw: Flaw) -> bool:
        """Tell whether the call uses a part that a flaw replaces."""
        return bool(self._used & flaw.parts.keys())

    def changes(self, flaw: Flaw) -> bool:
        """Tell whether a flaw by itself gives something else than the reference."""
        return self.uses(flaw) and not same(self._of(()), self._of((flaw,)))

    def distance(self, explanation: Explanation) -> Distance:
        """Return how far the answer is from what flaws give in the reference's own style."""
        return distance(self.call, self._of(explanation))

    def least_distance(self, explanation: Explanation) -> Distance:
        """Return how far the answer is from what flaws give in the nearest style."""
        places = (0, *self._others)
        return min(distance(self.call, self._of(explanation, place)) for place in places)

    def fits(self, explanation: Explanation) -> bool:
        """Tell whether flaws give the answer in any style."""
        if fits(self.call, self._of(explanation)):
            return True
        if not any(map(self.has_style, explanation)):
            return False
        replaced = {part for flaw in explanation for part in flaw.parts}
        styled = (n for n in self._others if not self._parts_of_style[n] <= replaced)
        return any(fits(self.call, self._of(explanation, n)) for n in styled)

    def has_style(self, flaw: Flaw) -> bool:
        """Tell whether it matters to a flaw in which style the call is computed."""
        if flaw not in self._styled:
            plain = self._of((flaw,))
            others = (self._of((flaw,), place) for place in self._others)
            self._styled[flaw] = not all(same(plain, other) for other in others)
        return self._styled[flaw]

    def explained_variance_of_pairs(self, flaws: Sequence[Flaw]) -> Floats:
        """Return which share of the answer's error each two of n flaws make up: (n, n)."""
        answer = [_numbers(out) for out in self.call.answer.outs]
        return explained_variance_of_pairs(
            answer, _arrays(self._of(())), [_arrays(self._of((f,))) for f in flaws]
        )

    def raises_alike(self, explanation: Explanation) -> bool:
        """Tell whether flaws raise the same kind of exception."""
        return raised_alike(self.call, self._of(explanation))

    def grouped(self, flaws: Iterable[Flaw]) -> dict[Flaw, list[Flaw]]:
        """Put flaws together that replace the same parts, and give the same here."""
        groups: dict[Flaw, list[Flaw]] = {}
        for flaw in flaws:
            parts = flaw.parts.keys()
            like = (one for one in groups if one.parts.keys() == parts and self._alike(one, flaw))
            groups.setdefault(next(like, flaw), []).append(flaw)
        return groups

    def _alike(self, one: Flaw, other: Flaw) -> bool:
        return same(self._of((one,)), self._of((other,)))

    @property
    def _others(self) -> range:
        return range(1, len(self._styles))

    def _of(self, explanation: Explanation, place: int = 0) -> Given:
        if (explanation, place) not in self._given:
            style = self._styles[place]
            given = outputs(self.call, style.expect(style.with_flaws(*explanation)))
            self._given[explanation, place] = given
        return self._given[explanation, place]


def used(parts: Mapping[str, Any], run: Callable[[Mapping[str, Any]], object]) -> set[str]:
    """Return the names of the parts that are called while something runs with them."""
    names: set[str] = set()

    def noting(name: str, part: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **keywords: Any) -> Any:
            names.add(name)
            return part(*arguments, **keywords)

        return noted

    run({name: noting(name, part) for name, part in parts.items()})
    return names


def _numbers(output: Output) -> Floats:
    if isinstance(output, Tensor):
        return output.values
    return np.asarray(output) if isinstance(output, (bool, int, float)) else np.empty(0)


def _arrays(given: Given) -> Sequence[Floats]:
    return [] if isinstance(given, str) else [one.values for one in given]


def _differing(style: Spec, spec: Spec) -> set[str]:
    return {name for name, part in style.reference.items() if spec.reference[name] is not part}


def _telling(call: Recorded) -> tuple[bool, int, int]:
    """Order calls: those that answered, with the fewest arguments, nearest to a telling size."""
    return call.answer.raised is not None, len(call.arguments), abs(call.size - TELLING_SIZE)
