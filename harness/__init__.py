"""takehome: an automated grader for attention written by hand.

The names below are what a spec may use. They are imported when they are first asked for, so that
``import harness.errors``, `takehome --help` and the pytest plugin do not load numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.candidate import ClassProxy, Layer
    from harness.candidate.weights import (
        Construction,
        Learned,
        Norm,
        Projection,
        State,
        draw_weights,
    )
    from harness.errors import CheckFailed, NotOffered
    from harness.protocol import Tensor
    from harness.results import Facet, FollowUp, KeyPoint, Level, Question, RedFlag, Stage
    from harness.spec import (
        Check,
        Criterion,
        Draw,
        EntryPoint,
        Expected,
        Flaw,
        Forms,
        Judge,
        KnownBug,
        PlainProgram,
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
    "FollowUp",
    "Forms",
    "Judge",
    "KeyPoint",
    "KnownBug",
    "Layer",
    "Learned",
    "Level",
    "Norm",
    "NotOffered",
    "PlainProgram",
    "Projection",
    "Question",
    "RedFlag",
    "Spec",
    "Stage",
    "State",
    "Tensor",
    "criterion",
    "disjoint",
    "draw_weights",
]

#: Public name -> the package that has it.
_HOMES = {
    "Check": "harness.spec",
    "CheckFailed": "harness.errors",
    "ClassProxy": "harness.candidate",
    "Construction": "harness.candidate.weights",
    "Criterion": "harness.spec",
    "Draw": "harness.spec",
    "EntryPoint": "harness.spec",
    "Expected": "harness.spec",
    "Facet": "harness.results",
    "Flaw": "harness.spec",
    "FollowUp": "harness.results",
    "Forms": "harness.spec",
    "Judge": "harness.spec",
    "KeyPoint": "harness.results",
    "KnownBug": "harness.spec",
    "Layer": "harness.candidate",
    "Learned": "harness.candidate.weights",
    "Level": "harness.results",
    "Norm": "harness.candidate.weights",
    "NotOffered": "harness.errors",
    "PlainProgram": "harness.spec",
    "Projection": "harness.candidate.weights",
    "Question": "harness.results",
    "RedFlag": "harness.results",
    "Spec": "harness.spec",
    "Stage": "harness.results",
    "State": "harness.candidate.weights",
    "Tensor": "harness.protocol",
    "criterion": "harness.spec",
    "disjoint": "harness.spec",
    "draw_weights": "harness.candidate.weights",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
