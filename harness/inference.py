"""Finds out how a submission spells what the brief asks: by name first, by trial second.

The trials are a fixed preamble: all of them are always sent, on inputs of their own, so that what
is sent never depends on what came back. A convention is accepted when it is consistent over every
trial: out does not move when a blocked key's value does, and moves when an allowed one's does.
That holds for wrong answers as well, so that a bug is not taken for a convention.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.calls import Call, Tensor
from harness.candidate import Session
from harness.conventions import LAYOUTS, MEANINGS, Convention
from harness.draw import Draw
from harness.names import told, words
from harness.session import Definition, LoadReport
from harness.spec import EntryPoint, Spec
from harness.text import one_line
from harness.trials import Trials

Floats = np.ndarray[Any, Any]

#: Words in the name of a parameter -> the brief's parameter.
SYNONYMS: Final[Mapping[str, frozenset[str]]] = {
    "mask": frozenset({"mask", "masks", "allowed", "causal", "padding"}),
    "dropout": frozenset({"dropout", "p", "rate", "drop"}),
    "training": frozenset({"training", "train", "mode"}),
    "heads": frozenset({"h", "heads", "head", "n", "num", "nhead"}),
    "length": frozenset({"length", "len", "size", "t", "n", "seq", "max", "l", "maxlen"}),
    "lengths": frozenset({"lengths", "lens", "valid"}),
    "d": frozenset({"d", "dim", "model", "emb", "embed", "width"}),
    "x": frozenset({"x", "input", "inputs", "tensor", "arr", "a", "scores", "logits", "z"}),
    "axis": frozenset({"axis", "dim"}),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """The conventions of a submission, and what to say about them."""

    conventions: Mapping[str, Convention]
    words: Mapping[str, str]  #: entry point -> what was inferred


def infer(spec: Spec, session: Session, report: LoadReport) -> Inferred:
    """Return a convention for every entry point that can be found in the submission."""
    found: dict[str, Convention] = {}
    said: dict[str, str] = {}
    for point in spec.entry_points:
        definition = find(point, report.definitions)
        if definition is None or definition.kind != "function":
            continue
        convention = by_name(point, definition)
        if point.role == "attention":
            convention = _attention(point, convention, session, spec)
        elif point.variants:
            convention = _variant(point, convention, session, spec)
        found[point.name] = convention
        if sentence := _sentence(point, convention, definition):
            said[point.name] = sentence
    return Inferred(conventions=found, words=said)


def find(point: EntryPoint, definitions: Sequence[Definition]) -> Definition | None:
    """Return what stands for an entry point: by its name, an alias, or its parameters."""
    by_exact = {definition.name: definition for definition in definitions}
    for name in (point.name, *point.aliases):
        if name in by_exact:
            return by_exact[name]
    folded = {_folded(definition.name): definition for definition in reversed(definitions)}
    for name in (point.name, *point.aliases):
        if _folded(name) in folded:
            return folded[_folded(name)]
    if point.role != "attention":
        return None
    alike = [one for one in definitions if {"Q", "K", "V"} <= _announced(one.parameters)]
    return alike[-1] if len(alike) == 1 else None


def _folded(name: str) -> str:
    return "".join(words(name))


def _announced(parameters: Sequence[str]) -> set[str]:
    return {role for name in parameters for role in told(name)}


def by_name(point: EntryPoint, definition: Definition) -> Convention:
    """Match the submission's parameters with the brief's by their names, in order otherwise."""
    wanted = list(point.parameters)
    order: list[int | None] = []
    for name in definition.parameters:
        place = next((n for n, other in enumerate(wanted) if _means(name, other)), None)
        order.append(place if place is not None and place not in order else None)
    required = [place for place in order if place is not None]
    if set(required) < set(range(len(point.required))) or not definition.parameters:
        order = list(range(len(wanted)))  # the names do not tell
    return Convention(
        name=definition.name,
        order=tuple(order),
        mask_at=next((n for n, name in enumerate(wanted) if "mask" in words(name)), None),
    )


def _means(name: str, wanted: str) -> bool:
    if name.lower() == wanted.lower():
        return True
    if told(wanted) and len(told(wanted)) == 1:
        return told(name) == told(wanted)
    parts = set(words(name))
    return any(
        parts & synonyms and set(words(wanted)) & (synonyms | {meaning})
        for meaning, synonyms in SYNONYMS.items()
    )


def _attention(point: EntryPoint, named: Convention, session: Session, spec: Spec) -> Convention:
    """Decide layout, outputs and mask by trial; what no trial settles stays as the brief says."""
    trials = Trials(point, Draw("", "conventions"), spec)
    tried = [(one, trials.answers(one, session)) for one in trials.conventions(named)]
    working = [pair for pair in tried if trials.outputs(pair[1][0])[0] is not None]
    if not working:
        return named
    consistent = [pair for pair in working if trials.masks_consistently(pair[1])]
    chosen, answers = (consistent or working)[0]
    out, weights = trials.outputs(answers[0])
    wanted = len(point.returns) > 1
    return dataclasses.replace(
        chosen,
        returns=(out, weights) if wanted else (out,),
        identity_at=2 if wanted and weights is None else None,
    )


def _variant(
    point: EntryPoint, named: Convention, session: Session, spec: Spec
) -> Convention:
    """Find the variant under which the output is what the reference gives."""
    arguments = point.example
    call = Call(name=named.name, arguments=named.arguments(arguments))
    (answer,) = session.exchange([call])
    if answer.raised is not None or not answer.outs or not isinstance(answer.outs[0], Tensor):
        return named
    values = answer.outs[0].values
    right = spec.expect(spec.reference)[point.name](*arguments)[0].values
    changes: dict[str, Callable[[Floats], Floats]] = {"": lambda array: array, **point.variants}
    for name, change in changes.items():
        if values.shape == right.shape and np.allclose(change(values), right, atol=1e-3):
            return dataclasses.replace(named, variant=name)
    return named


def _sentence(point: EntryPoint, convention: Convention, definition: Definition) -> str:
    """Say how a convention differs from the brief, or "" when it does not."""
    said = []
    usual = tuple(range(len(point.parameters)))
    if convention.name != point.name:
        said.append(f"called {one_line(convention.name, 60)}")
    if convention.order != usual[: len(convention.order)]:
        said.append(f"takes ({', '.join(one_line(n, 30) for n in definition.parameters)})")
    if convention.mask != "keep":
        said.append(f"mask: {MEANINGS[convention.mask]}")
    if convention.layout != "batch":
        said.append(f"arrays are {LAYOUTS[convention.layout].words}")
    if convention.returns and convention.returns != (0, 1):
        names = [
            name
            for place, name in sorted(
                (place, name)
                for place, name in zip(convention.returns, point.returns, strict=False)
                if place is not None
            )
        ]
        said.append(f"returns {', '.join(names)}")
    if convention.identity_at is not None:
        said.append("its weights are read as the output for V = I")
    if convention.variant:
        said.append(convention.variant)
    return "; ".join(said)
