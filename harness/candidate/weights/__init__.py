"""How a class names its weights, and the same weights as the brief has them."""

from harness.candidate.weights.candidates import nameless_layouts, possible_layouts
from harness.candidate.weights.layouts import WeightLayout, rebuild_layout
from harness.candidate.weights.learned import Learned, Norm, Projection, State, draw_weights
from harness.candidate.weights.parameter_names import projections_named_by, words
from harness.candidate.weights.trial import Construction, LayoutTrial, unreadable

__all__ = [
    "Construction",
    "LayoutTrial",
    "Learned",
    "Norm",
    "Projection",
    "State",
    "WeightLayout",
    "draw_weights",
    "nameless_layouts",
    "possible_layouts",
    "projections_named_by",
    "rebuild_layout",
    "unreadable",
    "words",
]
