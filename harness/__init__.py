"""takehome: an automated grader for attention written by hand.

The names below are what a spec may use.
"""

from harness.calls import Tensor
from harness.checks import Check, Criterion, criterion
from harness.compare import Expected, Judge
from harness.draw import Draw
from harness.errors import CheckFailed
from harness.layout_trial import Construction
from harness.learned import Learned, Norm, Projection, State, draw_weights
from harness.modules import ClassProxy, Layer
from harness.results import Facet, KeyPoint, Level, Question, Stage
from harness.spec import EntryPoint, Flaw, Spec, disjoint

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
