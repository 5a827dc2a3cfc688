"""How a class names its weights, and the same weights as the brief has them."""

from harness.candidate.weights.candidates import layouts
from harness.candidate.weights.layouts import Layout, again
from harness.candidate.weights.learned import Learned, Norm, Projection, State, draw_weights
from harness.candidate.weights.parameter_names import told, words
from harness.candidate.weights.trial import Construction, Trial, unreadable

__all__ = [
    "Construction",
    "Layout",
    "Learned",
    "Norm",
    "Projection",
    "State",
    "Trial",
    "again",
    "draw_weights",
    "layouts",
    "told",
    "unreadable",
    "words",
]
