"""Files put together from the choices that people make, each right or with one mistake.

A choice is one of a name, a constructor, a call, a mask, a return, a style. What is composed is
right by construction, save for the mistake that it is given; ``tests`` hold both to float64.
"""

from tests.conventions.composed.composition import SPECS, Composed, compose

__all__ = ["SPECS", "Composed", "compose"]
