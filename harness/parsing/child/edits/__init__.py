"""Small edits of a Python file that could repair an attention: what to try, and in which kind.

Nothing is chosen here: the harness orders the edits by what is known about the failure, and runs
them. Each is a description and spans of the source with new text.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from . import (
    axes,
    blocks,
    encodings,
    masks,
    online,
    operands,
    projections,
    scales,
    shapes,
    softmaxes,
    statements,
    training,
)
from .places import about, places
from .reading import Change, Code, Edit, Function, targets, walk
from .scopes import Scope

SOURCE_CAP: Final = 128 << 10
#: Edits of one kind in one function, and of all.
KIND_CAP: Final = 60
EDITS_CAP: Final = 3000
#: How many likelier edits what makes an object is taken to have.
_START: Final = 3
NODES_CAP: Final = 40_000

KINDS: Final[tuple[Callable[[Scope], Iterator[Edit]], ...]] = (
    axes.axis, axes.keepdims, axes.extreme, axes.order, axes.shape, axes.heads, axes.subscripts,
    operands.operand, operands.layer, operands.exchanged, operands.renamed, operands.passed_in,
    operands.surplus, operands.unwrapped, operands.operator, operands.regrouped,
    masks.polarity, masks.fill, masks.masked, masks.kept, masks.before_softmax, masks.causal,
    masks.broadcast,
    scales.scale,
    softmaxes.maximum, softmaxes.normalised, softmaxes.inward, softmaxes.own_softmax,
    statements.left_out, statements.condition, statements.decorator, statements.sequence,
    statements.in_place, statements.copied,
    shapes.size, shapes.room, shapes.bound, shapes.triangle, shapes.index, shapes.slices,
    shapes.guard,
    encodings.waves, encodings.number, encodings.start, encodings.halves, encodings.alternating,
    encodings.angle, encodings.phase, encodings.turned, encodings.slopes,
    online.rescaled, online.growing, online.running,
    projections.own_layer, projections.after_heads, projections.hoisted, projections.registered,
    blocks.normed, blocks.residual, blocks.norm_first, blocks.activation, blocks.idle_part,
    training.flag, training.dropout, training.passed_on, training.helper, training.outputs,
)  # fmt: skip


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return edits of ``text``; those of a function are for what calls it, directly or not.

    ``entries`` are names of functions and classes; ``torch`` says what arrays are made of. Each
    edit has ``kind``, ``place`` (how many came before it in its kind and function), ``function``,
    ``entries`` (the places in the list given of those that reach the function), ``about`` (words
    for the statements it changes), ``description`` and ``changes``, a list of [first byte, byte
    after the last, new text].
    """
    text: str = arguments["text"]
    if len(text) > SOURCE_CAP:
        return {"edits": []}
    try:
        code = Code(text)
        if sum(1 for _ in walk(code.tree)) > NODES_CAP:
            return {"edits": []}
        return {"edits": list(_edits(code, arguments["entries"], arguments["torch"]))[:EDITS_CAP]}
    except (SyntaxError, ValueError, RecursionError):
        return {"edits": []}


def _edits(code: Code, entries: list[str], torch: bool) -> Iterator[dict[str, Any]]:
    reached = [_reached(code, entry) for entry in entries]
    scopes = [(node, name) for name, node in _functions(code)]
    for node, name in [*scopes, (code.tree, "")]:
        callers = [place for place, names in enumerate(reached) if name in names]
        if not callers and any(reached):
            continue
        scope = Scope(code, node, torch)
        statements = places(scope)
        for kind in KINDS:
            for place, edit in enumerate(
                _of_kind(kind, scope), start=_START * scope.is_constructor
            ):
                yield {
                    "kind": kind.__name__,
                    "place": place,
                    "function": name,
                    "entries": callers,
                    "about": about(edit.changes, statements),
                    "description": edit.description,
                    "changes": [[c.start, c.end, c.text] for c in edit.changes],
                }


def _functions(code: Code) -> Iterator[tuple[str, Function]]:
    """Yield functions and methods with the name at top level that they belong to."""
    yield from code.functions.items()
    for name, node in code.classes.items():
        yield from ((name, method) for method in node.body if isinstance(method, Function))


def _reached(code: Code, entry: str) -> set[str]:
    """Return the names at top level that an entry needs, itself included, and "" for the file."""
    if entry not in {*code.functions, *code.classes}:
        return set()
    definitions: dict[str, ast.AST] = {n: s for s in code.tree.body for n in targets(s)}
    definitions |= {**code.functions, **code.classes}
    reached, ahead = {""}, [entry]
    while ahead:
        name = ahead.pop()
        if name in reached:
            continue
        reached.add(name)
        used = {node.id for node in walk(definitions[name]) if isinstance(node, ast.Name)}
        ahead += sorted(used & definitions.keys())
    return reached


def _of_kind(kind: Callable[[Scope], Iterator[Edit]], scope: Scope) -> list[Edit]:
    """Return the edits of a kind, and those that several places call for all at once.

    What three places or more have in common, e.g. how Q, K and V are split, is likelier wrong in
    all of them than in one.
    """
    found: dict[tuple[Change, ...], Edit] = {}
    for edit in kind(scope):
        if len(found) >= KIND_CAP:
            break
        if _is_sound(edit, scope.code):
            found.setdefault(edit.changes, edit)
    alike: dict[str, list[Edit]] = {}
    for edit in found.values():
        alike.setdefault(_pattern(edit, scope.code), []).append(edit)
    likely: list[Edit] = []
    rest: list[Edit] = []
    for edits in alike.values():
        together = _joined(edits) if len(edits) > 1 else None
        if together is None:
            likely += edits
        elif len(edits) == 2:
            likely += [*edits, together]
        else:
            likely.append(together)
            rest += edits
    return likely + rest


def _is_sound(edit: Edit, code: Code) -> bool:
    """Tell whether an edit changes something, and each place once."""
    spans = [(change.start, change.end) for change in edit.changes]
    apart = all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    changed = any(code.data[c.start : c.end].decode() != c.text for c in edit.changes)
    return bool(spans) and apart and changed


#: A name that is no attribute and is not called.
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*+(?!\()")


def _pattern(edit: Edit, code: Code) -> str:
    """Write what an edit does to its place, whatever the names there."""
    was = [code.data[change.start : change.end].decode() for change in edit.changes]
    text = edit.alike or "→".join([*was, *(change.text for change in edit.changes)])
    names = {name: f"_{place}" for place, name in enumerate(dict.fromkeys(_NAME.findall(text)))}
    return _NAME.sub(lambda found: names[found[0]], text)


def _joined(edits: list[Edit]) -> Edit | None:
    changes = tuple(sorted({change for edit in edits for change in edit.changes}))
    if any(one.end > other.start for one, other in itertools.pairwise(changes)):
        return None
    return Edit(f"{edits[0].description}, and in {len(edits) - 1} more places", changes)
