"""Which two flaws together may have given a wrong call, the likeliest first?

Trying all pairs on one call would take half a second. Those whose effects make up the most of the
error come first, and flaws that give the same are tried once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from harness.diagnosis.first_wrong_call import Explanation, FirstWrongCall
from harness.spec import Flaw, disjoint

#: Explanations that give the same on the first wrong call.
Alike = Sequence[Explanation]

#: So many pairs are tried on one call: of up to 2,100 possible ones, the right one was among the
#: first 100 for 327 of 332 pairs that were among the first 400. A try takes 0.05 to 0.25 ms.
TRIES: Final = 100


def likeliest(
    first: FirstWrongCall,
    flaws: Sequence[Flaw],
    masked_flaws: Sequence[Flaw],
    reported: Iterable[Explanation],
) -> Iterator[Alike]:
    """Yield pairs of flaws that both change the first wrong call, with those that are the same.

    Those that were ``reported`` to come together are first. Flaws of which
    another may hide some of the failures are paired only with one whose checks all failed.
    """
    # No pair with a flaw that draws at random gives what was recorded.
    changing = [flaw for flaw in flaws if not flaw.random and first.changes(flaw)]
    behind = [flaw for flaw in masked_flaws if not flaw.random and first.uses(flaw)]
    groups = first.grouped(dict.fromkeys((*changing, *behind)))
    names = {flaw: one for one, group in groups.items() for flaw in group}
    known = (tuple(names[flaw] for flaw in pair) for pair in reported if names.keys() >= {*pair})
    both_change = [flaw for flaw in changing if flaw in groups]
    both = _by_share(first, both_change, [flaw for flaw in behind if flaw in groups])
    tried: set[frozenset[Flaw]] = set()
    for pair in filter(_may_be, itertools.chain(known, both)):
        if frozenset(pair) not in tried:
            tried.add(frozenset(pair))
            members = itertools.product(*(groups[flaw] for flaw in pair))
            yield list(filter(_may_be, members))
        if len(tried) == TRIES:
            return


def _by_share(
    first: FirstWrongCall, changing: Sequence[Flaw], behind: Sequence[Flaw]
) -> Iterator[Explanation]:
    """Yield pairs by the share of the answer's error that they make up, none of two ``behind``."""
    flaws = [*changing, *behind]
    if not changing or len(flaws) < 2:
        return
    variances = first.explained_variance_of_pairs(flaws)
    one, other = np.triu_indices(len(flaws), 1)
    for place in np.argsort(-variances[one, other], kind="stable"):
        if one[place] < len(changing):
            yield flaws[one[place]], flaws[other[place]]


def _may_be(pair: Explanation) -> bool:
    """Tell whether two flaws can be there at once, and are not one mistake written in two ways."""
    return pair[0].id != pair[1].id and disjoint(pair)
