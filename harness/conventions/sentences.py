"""How the conventions of a submission differ from the brief, in words; or why none are found."""

from __future__ import annotations

from collections.abc import Sequence

from harness.candidate import Definition, Parameter
from harness.conventions.convention import AXIS_ORDERS, Convention, Places
from harness.conventions.definitions import call_of
from harness.conventions.mask_forms import MaskForm
from harness.conventions.named_orders import positional_first
from harness.errors import CandidateRaised, NotOffered
from harness.spec import EntryPoint
from harness.text import one_line


def absence(definition: Definition, error: NotOffered) -> str:
    return f"{one_line(definition.name, 60)} has no {error}, without which it cannot be tried"


def too_few_parameters(point: EntryPoint, definition: Definition) -> str:
    takes = ", ".join(one_line(one.name, 30) for one in call_of(definition))
    return (
        f"{one_line(definition.name, 60)} takes ({takes}), "
        f"expected ({', '.join(point.required)}): the brief gives more than it has parameters for"
    )


def no_output(
    point: EntryPoint, definition: Definition, raised: CandidateRaised | None = None
) -> str:
    """Say why it cannot be told how a definition is called: what it raised, if it did."""
    takes = ", ".join(one_line(one.name, 30) for one in call_of(definition))
    if raised is not None:
        return (
            f"{one_line(definition.name, 60)}({takes}) raised {one_line(str(raised), 300)} when it "
            f"was called as {point.name}({', '.join(point.parameters)}), and gives no output of "
            "its shape in any other order or layout that was tried"
        )
    return (
        f"{one_line(definition.name, 60)}({takes}) gives no output of {point.name}'s shape in any "
        f"order or layout that was tried, expected {point.name}({', '.join(point.parameters)})"
    )


def deviation(point: EntryPoint, convention: Convention, definition: Definition) -> str:
    """Say how a convention differs from the brief, or "" when it does not."""
    said = []
    takes = positional_first(call_of(definition))
    if convention.name != point.name:
        said.append(f"called {one_line(convention.name, 60)}")
    if convention.constructor:
        made = ", ".join(one_line(one.words(), 120) for one in convention.constructor)
        said.append(f"made with ({made})")
    used = [place for place in convention.order if place is not None]
    if list(convention.order[: len(used)]) != list(range(len(used))) or convention.keywords:
        said.append(f"takes ({_listed(takes)})")
    brief = MaskForm(meaning="block" if point.blocking else "keep")
    if form := convention.mask.words(brief):
        said.append(f"mask: {form}")
    if convention.inverts:
        said.append("marks what is blocked, as the mask of the attention beside it does")
    if convention.mask_required:
        said.append("a mask must be given")
    if convention.layout != "batch":
        said.append(f"arrays are {AXIS_ORDERS[convention.layout].words}")
    if convention.returns not in ((), (0,), (0, 1), (0, None)):
        found = zip(convention.returns, point.returns, strict=False)
        names = [name for place, name in sorted((p, n) for p, n in found if p is not None)]
        where = f" at position {convention.returns[0]}" if len(names) == 1 else ""
        said.append(f"returns {', '.join(names)}{where}")
    brief_sources = Places.of(point).source_count
    if convention.sources < brief_sources:
        one = "one source serves" if convention.sources == 1 else "the second source serves"
        what = "queries, keys and values" if convention.sources == 1 else "keys and values"
        said.append(f"{one} as {what}")
    if convention.causal and Places.of(point).key is not None:
        said.append("causal inside")
    sources = {Places.of(point).key, Places.of(point).value} if convention.sources < 3 else set()
    absent = [
        name
        for n, name in enumerate(point.parameters)
        if n not in convention.order and n not in sources
    ]
    if absent:
        said.append(f"has no {', '.join(absent)}")
    if convention.identity:
        said.append("its weights are read as the output for V = I")
    if convention.variant:
        said.append(convention.variant)
    return "; ".join(said)


def _listed(parameters: Sequence[Parameter]) -> str:
    return ", ".join(one_line(one.name, 30) for one in parameters)
