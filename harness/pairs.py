"""Which two flaws together may have given a wrong call, the likeliest first?

Trying all pairs on one call would take a second. Half of a mistake that consists of two is mostly
more like both than any other flaw is, and flaws that give the same are tried once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from harness.spec import Flaw, disjoint
from harness.suspect import Explanation, Suspect

#: Explanations that give the same on the first wrong call.
Alike = Sequence[Explanation]

#: So many pairs are tried on one call: of up to 1,700 possible ones, the right one was among the
#: first 200 for 259 of 264 pairs that were among the first 400. A try takes 0.05 to 0.25 ms.
TRIES: Final = 200


def likeliest(
    first: Suspect,
    flaws: Sequence[Flaw],
    hindered: Sequence[Flaw],
    alone: Iterable[Flaw],
    reported: Iterable[Explanation],
) -> Iterator[Alike]:
    """Yield pairs of flaws, those together that are the same on the first wrong call.

    Those that were ``reported`` to come together are first. A flaw that does not change the call
    is paired only with flaws that explain it ``alone``; one that another flaw may have
    ``hindered`` from failing its checks, only with one that has failed all of its own.
    """
    changing = [flaw for flaw in flaws if first.uses(flaw) and first.changes(flaw)]
    later = [flaw for flaw in (*flaws, *hindered) if flaw not in changing]
    behind = [flaw for flaw in hindered if first.uses(flaw)]
    groups = first.grouped(dict.fromkeys((*changing, *behind)))
    names = {flaw: one for one, group in groups.items() for flaw in group}
    known = (tuple(names[flaw] for flaw in pair) for pair in reported if names.keys() >= {*pair})
    one_by_itself = itertools.product((flaw for flaw in alone if flaw in groups), later)
    both_change = [flaw for flaw in changing if flaw in groups]
    others = [
        *itertools.combinations(both_change, 2),
        *itertools.product(both_change, (flaw for flaw in behind if flaw in groups)),
    ]
    pairs = itertools.chain(known, one_by_itself, _in_order(others, first))
    distinct = {frozenset(pair): pair for pair in filter(_may_be, pairs)}
    for pair in itertools.islice(distinct.values(), TRIES):
        members = itertools.product(*(groups.get(flaw, [flaw]) for flaw in pair))
        yield list(filter(_may_be, members))


def _in_order(pairs: Sequence[Explanation], first: Suspect) -> Iterator[Explanation]:
    """Yield pairs by the likeness of both flaws, and by that of the more alike, in turn."""
    flaws = dict.fromkeys(itertools.chain.from_iterable(pairs))
    unlike = {flaw: first.unlikeness(flaw) for flaw in flaws}
    by_both = sorted(pairs, key=lambda pair: unlike[pair[0]] + unlike[pair[1]])
    by_one = sorted(pairs, key=lambda pair: min(unlike[pair[0]], unlike[pair[1]]))
    return itertools.chain.from_iterable(zip(by_both, by_one, strict=True))


def _may_be(pair: Explanation) -> bool:
    """Tell whether two flaws can be there at once, and are not one mistake written in two ways."""
    return pair[0].id != pair[1].id and disjoint(pair)
