"""Short written answers read as values, whatever notation they are in.

Every reader takes text of any length, looks at its beginning, goes through it a few times, and
returns None when it finds nothing that it knows, or several things that contradict each other:
a person reads that answer. Nothing is evaluated.
"""

from __future__ import annotations

from specs.criteria.notation.grids import grid
from specs.criteria.notation.growth import growth, kind_of_growth
from specs.criteria.notation.numbers import factor, proportions
from specs.criteria.notation.places import axis, role
from specs.criteria.notation.shapes import shape

__all__ = [
    "axis",
    "factor",
    "grid",
    "growth",
    "kind_of_growth",
    "proportions",
    "role",
    "shape",
]
