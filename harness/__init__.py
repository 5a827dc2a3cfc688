"""takehome: an automated grader for attention written by hand.

The names below are what a spec may use.
"""

from harness.candidate import ClassProxy, Layer
from harness.candidate.weights import Construction, Learned, Norm, Projection, State, draw_weights
from harness.errors import CheckFailed
from harness.protocol import Tensor
from harness.results import Facet, KeyPoint, Level, Question, Stage
from harness.spec import (
    Check,
    Criterion,
    Draw,
    EntryPoint,
    Expected,
    Flaw,
    Judge,
    Spec,
    criterion,
    disjoint,
)

__all__ = [
    "Check",
    "CheckFailed",
    "ClassProxy",
    "Construction",
    "Criterion",
    "Draw",
    "EntryPoint",
    "Expected",
    "Facet",
    "Flaw",
    "Judge",
    "KeyPoint",
    "Layer",
    "Learned",
    "Level",
    "Norm",
    "Projection",
    "Question",
    "Spec",
    "Stage",
    "State",
    "Tensor",
    "criterion",
    "disjoint",
    "draw_weights",
]
