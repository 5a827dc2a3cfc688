"""The words that a spec is written in, and when a number is right."""

from harness.spec.comparison import (
    COARSER,
    NAMES,
    Expected,
    Judge,
    compare,
    error_ratios,
    roundoff_of,
    shape_name,
    tolerance_dtype,
)
from harness.spec.criteria import Check, Criterion, criterion
from harness.spec.draw import Draw, DrawnOnce
from harness.spec.plain_program import KnownBug, PlainProgram
from harness.spec.spec import EntryPoint, Flaw, Forms, Spec, disjoint

__all__ = [
    "COARSER",
    "NAMES",
    "Check",
    "Criterion",
    "Draw",
    "DrawnOnce",
    "EntryPoint",
    "Expected",
    "Flaw",
    "Forms",
    "Judge",
    "KnownBug",
    "PlainProgram",
    "Spec",
    "compare",
    "criterion",
    "disjoint",
    "error_ratios",
    "roundoff_of",
    "shape_name",
    "tolerance_dtype",
]
