"""Which function or class of a submission stands for an entry point of the brief.

Names narrow: the brief's own, then what others call it, then parameters that announce Q, K and V,
then a word of the trade in the name, then any that takes what the brief gives. Trials decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.candidate import Definition, LoadReport, Parameter
from harness.candidate.weights import projections_named_by, words
from harness.conventions.convention import Places
from harness.spec import EntryPoint, Spec
from harness.text import one_line

#: What a word of a name announces: the roles of the brief that it may stand for.
_ATTENTION = frozenset(
    {"attention", "attn", "mha", "mhsa", "sdpa", "msa", "attend", "softmax", "head", "heads"}
    | {"multihead", "flash", "online"}
)
_TRADE = {
    "attention": _ATTENTION,
    "attention_in_blocks": _ATTENTION,
    "layer": _ATTENTION | {"block", "layer", "cache"},
    "positional_encoding": frozenset(
        {"pos", "position", "positional", "pe", "sinusoid", "sinusoidal", "sinusoids", "timing"}
        | {"encoding", "encodings", "embedding"}
    ),
    "rotary": frozenset({"rotary", "rope", "rotate"}),
    "alibi_bias": frozenset({"alibi"}),
}
#: Words of names that are another assignment's, whatever else they hold.
_OTHER_TRADES = frozenset({"rotary", "rope", "alibi", "loss", "train", "test", "main", "demo"})


def candidates(point: EntryPoint, definitions: Sequence[Definition]) -> list[Definition]:
    """Return what may stand for an entry point, the likeliest first, and of equals the last.

    A definition under the brief's own name is the answer, and no other is looked at.
    """
    own = "class" if point.constructor else "function"
    kinds = [own] if own == "class" else ["function", "class"]
    found: list[Definition] = []
    for kind in kinds:
        alike = [one for one in definitions if one.kind == kind]
        exact = [one for one in alike if one.name == point.name]
        if exact:
            return exact
        found += _by_names(point, alike)
    for kind in kinds:
        alike = [one for one in definitions if one.kind == kind]
        found += [*_by_parameters(point, alike), *_by_trade(point, alike), *_any(point, alike)]
    return list({id(one): one for one in found}.values())


def find(point: EntryPoint, definitions: Sequence[Definition]) -> Definition | None:
    """Return the likeliest, if there is one."""
    return next(iter(candidates(point, definitions)), None)


def deviations(spec: Spec, report: LoadReport) -> str:
    """Say what a submission calls entry points that it has under other names only, or ""."""
    said = []
    for point in spec.entry_points:
        definition = find(point, report.definitions)
        if point.name not in report.names and definition is not None:
            said.append(f"{point.name} is called {one_line(definition.name, 60)}")
    return f"{', '.join(said)}; rename, or grade with --conventions adapt" if said else ""


def call_of(definition: Definition) -> tuple[Parameter, ...]:
    """Return what is given in a call: of a class, to its objects."""
    return definition.call if definition.kind == "class" else definition.takes


def _by_names(point: EntryPoint, alike: Sequence[Definition]) -> Iterable[Definition]:
    names = [*(one.name for one in alike)]
    for wanted in (point.name, *point.aliases):
        if wanted in names:
            yield next(one for one in alike if one.name == wanted)
    for wanted in (point.name, *point.aliases):
        yield from (one for one in reversed(alike) if _folded(one.name) == _folded(wanted))


def _by_parameters(point: EntryPoint, alike: Sequence[Definition]) -> Iterable[Definition]:
    wanted = _announced(point.parameters) & set("QKV")
    if point.is_core and wanted:
        yield from (
            one
            for one in reversed(alike)
            if wanted <= _announced(parameter.name for parameter in call_of(one))
        )


def _by_trade(point: EntryPoint, alike: Sequence[Definition]) -> Iterable[Definition]:
    trade = _TRADE.get(point.role, frozenset())
    yield from (
        one
        for one in reversed(alike)
        if set(words(one.name)) & trade and (point.is_core or _takes_enough(point, one))
    )


def _any(point: EntryPoint, alike: Sequence[Definition]) -> Iterable[Definition]:
    """Yield what takes enough, where that is how an answer may be found at all."""
    if not point.is_core:
        return
    yield from (
        one
        for one in reversed(alike)
        if _takes_enough(point, one) and not set(words(one.name)) & _OTHER_TRADES
    )


def _takes_enough(point: EntryPoint, definition: Definition) -> bool:
    least = 1 if point.constructor and Places.of(point).key is not None else len(point.required)
    return len(call_of(definition)) >= least or definition.kind == "class"


def _announced(names: Iterable[str]) -> set[str]:
    return {role for name in names for role in projections_named_by(name)}


def _folded(name: str) -> str:
    return "".join(words(name))
