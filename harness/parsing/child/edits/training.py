"""Dropout: on the weights, in training only; and what is not passed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, names, operands, quoted, targets, walk
from .scopes import Scope

_RESERVED = ("self", "training", "mask", "attn_mask")
DROPOUTS = ("dropout", "Dropout", "bernoulli", "alpha_dropout")


def _rate(scope: Scope) -> str:
    rates = [p for p in scope.parameters if "drop" in p.lower() or p == "p"]
    return rates[0] if rates else ""


def _flag(scope: Scope) -> str:
    return next((p for p in scope.parameters if p in ("training", "train")), "")


def flag(scope: Scope) -> Iterator[Edit]:
    """Dropout is told whether this is training."""
    code, given = scope.code, _flag(scope)
    if not given:
        return
    for node in scope.nodes:
        test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
        for part in walk(test) if test is not None else ():
            if isinstance(part, ast.Attribute) and code.text(part.value) == "self":
                yield code.swap(part, given)
    for call in scope.calls:
        if called(call) == "dropout" and given not in names(call):
            new = f"training={given}"
            yield Edit(f"{quoted(code.text(call))} gets `{new}`", (code.argument(call, new),))
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        made = called(value) in code.classes or called(value) == "Dropout"
        if isinstance(statement, ast.Assign) and made and len(targets(statement)) == 1:
            end = code.lines(statement)
            line = f"{code.indent(statement)}{targets(statement)[0]}.train({given})\n"
            if end is not None:
                change = Change(end.end, end.end, line)
                yield Edit(f"`{line.strip()}` is added", (change,))


def dropout(scope: Scope) -> Iterator[Edit]:
    """Dropout falls on the weights, right before they are used; other dropout is left out.

    Where nobody asks for any, all of it is left out.
    """
    code, rate, training = scope.code, _rate(scope), _flag(scope)
    removed = sorted(_without_dropout(scope))
    if removed and not rate:
        yield Edit("dropout is left out", tuple(removed))
    if not scope.torch or len(scope.products) < 2 or not rate:
        return
    last = code.statement(scope.products[-1])
    pair = operands(scope.products[-1])
    weights = scope.root(pair[0]) if pair else ""
    told = f", training={training}" if training else ""
    new = f"torch.nn.functional.dropout({weights}, p={rate}{told})"
    for statement in scope.statements:
        condition = isinstance(statement, ast.If) and training in names(statement.test)
        if condition and training:
            start, end = code.span(statement)
            made = f"{weights} = {new}"
            was = quoted(code.text(statement))
            yield Edit(f"{was} becomes {quoted(made)}", (Change(start, end, made),))
    line = code.before(last, [f"{weights} = {new}"])
    if line is not None and weights:
        changes = sorted((line, *removed))
        yield Edit("dropout falls on the weights", tuple(changes))
        if pair and isinstance(pair[0], ast.Name):
            changes = sorted((code.change(pair[0], new), *removed))
            yield Edit("dropout falls on the weights", tuple(changes))


def _without_dropout(scope: Scope) -> Iterator[Change]:
    for call in scope.calls:
        if called(call) in DROPOUTS and scope.given(call):
            yield scope.code.change(call, scope.code.text(scope.given(call)[0]))


def passed_on(scope: Scope) -> Iterator[Edit]:
    """A parameter that nothing uses is passed on to the file's own function or class."""
    code = scope.code
    if not isinstance(scope.node, Function):
        return
    used = {n.id for n in scope.nodes if isinstance(n, ast.Name)}
    unused = [p for p in scope.parameters if p not in used and p != "self"]
    for call in scope.calls:
        own = called(call) in code.functions or called(call) in code.classes
        variable = isinstance(call.func, ast.Name) and call.func.id in _objects(scope)
        if own or variable:
            for parameter in unused:
                change = code.argument(call, parameter)
                yield Edit(f"{quoted(code.text(call))} gets `{parameter}`", (change,))


def helper(scope: Scope) -> Iterator[Edit]:
    """A function of the file that nothing calls is applied, or an idle parameter is used."""
    code = scope.code
    called_here = {called(n) for n in walk(code.tree)}
    idle = [
        name
        for name, node in code.functions.items()
        if name not in called_here and name != scope.name and len(node.args.args) == 1
    ]
    used = {n.id for n in scope.nodes if isinstance(n, ast.Name)}
    unused = [p for p in scope.parameters if p not in used and p not in _RESERVED]
    for node in scope.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in scope.parameters:
                yield from (code.swap(node, f"{name}({node.id})") for name in idle)
        elif called(node) in ("arange", "range"):
            yield from (code.swap(node, parameter) for parameter in unused)


def _objects(scope: Scope) -> set[str]:
    """Return names of objects made of the file's own classes."""
    made = set()
    for statement in scope.statements:
        if called(getattr(statement, "value", None)) in scope.code.classes:
            made |= {*targets(statement)}
    return made


def outputs(scope: Scope) -> Iterator[Edit]:
    """What is returned: both, the output first, and the weights that were made."""
    code = scope.code
    for statement in scope.statements:
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        value = statement.value
        if isinstance(value, ast.Tuple):
            continue
        if scope.weights and len(scope.products) > 1 and scope.arrays[2:]:
            yield code.swap(value, f"{code.text(value)}, {scope.weights}")
