"""What trials tell of a class that takes one text: whether it is causal, what its padding means."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.candidate import Session
from harness.conventions.constructors import offered_sizes
from harness.conventions.convention import Convention
from harness.conventions.trials import FIRST_OBJECT, ConventionTrials
from harness.protocol import Call, Construct, Handle, Mode, Step, Tensor
from harness.spec import Draw, EntryPoint, Spec

Floats = np.ndarray[Any, Any]


def masked_inside(point: EntryPoint, convention: Convention, session: Session) -> Convention:
    """Find out whether a class that leaves no choice is causal: does the past see a change?"""
    taken = {place for one in convention.constructor for place in one.places()}
    choice = next((n for n, name in enumerate(point.constructor) if name == "causal"), None)
    if choice is None or choice in taken:
        return convention
    before = Draw("", "causal").normal(1, 5, point.sizes[0], dtype="f4")
    after = before.copy()
    after[:, -1] += 3
    arrays = _outputs(point, convention, session, [(before,), (after,)])
    if len(arrays) < 2:
        return convention
    still = np.allclose(arrays[0][:, :-1], arrays[1][:, :-1], rtol=1e-4, atol=1e-5)
    return dataclasses.replace(convention, causal=bool(still))


def causal_inside(
    point: EntryPoint, convention: Convention, session: Session, spec: Spec
) -> Convention:
    """Find out whether attention that leaves no choice is causal: does the past see a change?"""
    dtype = "f4" if spec.arrays == "torch" else "f8"
    sizes = offered_sizes(point, convention.constructor, point.sizes, None)
    trials = ConventionTrials(
        point, Draw("", "causal"), dtype, sizes, sources=convention.sources, even=True
    )
    return dataclasses.replace(convention, causal=trials.is_causal(convention, session))


def padding_form(point: EntryPoint, convention: Convention, session: Session) -> Convention:
    """Find out whether True in a padding mask means a real token or padding.

    The first position is padding: whatever it holds, the other rows stay the same. Where they do
    so under neither meaning, the brief's stands, and the checks say what is wrong.
    """
    place = convention.places.mask
    if place is None or place not in convention.order:
        return convention
    x = Draw("", "padding").normal(1, 5, point.sizes[0], dtype="f4")
    moved = x.copy()
    moved[:, 0] *= -3
    real = np.ones((1, 5), dtype=bool)
    real[:, 0] = False
    for meaning, mask in (("keep", real), ("block", ~real)):
        calls = [convention.arguments((array, mask))[0] for array in (x, moved)]
        arrays = _outputs(point, convention, session, calls)
        if len(arrays) == 2 and np.allclose(arrays[0][:, 1:], arrays[1][:, 1:], atol=1e-5):
            form = dataclasses.replace(convention.mask, meaning=meaning)
            return dataclasses.replace(convention, mask=form)
    return convention


def _outputs(
    point: EntryPoint,
    convention: Convention,
    session: Session,
    calls: Sequence[tuple[Any, ...]],
) -> list[Floats]:
    """Return what one object gives in several calls, as far as it gives arrays (B, T, D)."""
    made_of = (*point.sizes, True)[: len(point.constructor)]
    sizes = offered_sizes(point, convention.constructor, made_of, None)
    given, named = convention.made_with(sizes)
    target = Handle(FIRST_OBJECT - 1)
    steps: list[Step] = [
        Construct(object=target, name=convention.name, arguments=given, keywords=named),
        Mode(object=target, training=False),
        *(Call(object=target, arguments=arguments) for arguments in calls),
    ]
    outs = [answer.outs[0] for answer in session.exchange(steps)[2:] if answer.outs]
    arrays = [out.values for out in outs if isinstance(out, Tensor)]
    return [array for array in arrays if array.ndim == 3]
