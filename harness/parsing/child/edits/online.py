"""The softmax in blocks: what was summed so far is rescaled when the maximum grows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, called, names, quoted, targets, walk
from .scopes import Scope


def rescaled(scope: Scope) -> Iterator[Edit]:
    """A running sum is rescaled, begun before the loop, and divided by at the end."""
    if not (maxima := _maxima(scope)):
        return
    code = scope.code
    factor = _factor(scope, *maxima)
    for statement in scope.statements:
        name = (targets(statement) or [""])[0]
        value = getattr(statement, "value", None)
        if not _in_loop(scope, statement) or name not in _sums(scope) or value is None:
            continue
        start, end = code.span(statement)
        text = code.text(value)
        added = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)
        if added or name not in names(value):
            new = f"{name} = {name} * {factor} + {text}"
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            rest = value.right if code.text(value.left) == name else value.left
            new = f"{name} = {name} * {factor} + {code.text(rest)}"
        else:
            continue
        what = f"{quoted(name)} is rescaled by {quoted(factor)}"
        yield Edit(what, (Change(start, end, new),), alike="rescaled")
    for statement in scope.statements:
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name):
            others = [n for n in _sums(scope) if n != statement.value.id]
            yield from (
                code.swap(statement.value, f"{statement.value.id} / {other}") for other in others
            )


def growing(scope: Scope) -> Iterator[Edit]:
    """The running maximum begins at minus infinity and takes in every block."""
    if not (maxima := _maxima(scope)):
        return
    code, (old, new) = scope.code, maxima
    for statement in scope.statements:
        name, value = (targets(statement) or [""])[0], getattr(statement, "value", None)
        if value is None:
            continue
        if name == old and called(value) in ("zeros", "ones") and isinstance(value, ast.Call):
            shape = code.text(value.args[0]) if value.args else ""
            yield code.swap(value, f"{scope.module}.full({shape}, {_infinity(scope)})")
        elif name == new and scope.scores:
            peak = f"{scope.scores}.max(axis=-1, keepdims=True)"
            if scope.torch:
                peak = f"{scope.scores}.amax(dim=-1, keepdim=True)"
            yield code.swap(value, f"{scope.module}.maximum({old}, {peak})")
        elif {old, new} <= names(value) and any(called(n) == "exp" for n in walk(value)):
            yield code.swap(value, f"{scope.module}.exp({old} - {new})")


def running(scope: Scope) -> Iterator[Edit]:
    """A running maximum where there is none; what was summed so far is rescaled with it."""
    code, sums = scope.code, _sums(scope)
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        loop = next((a for a in code.around(statement) if isinstance(a, ast.For)), None)
        if loop is None or not isinstance(value, ast.Call) or called(value) != "exp":
            continue
        if not (sums and value.args and isinstance(value.args[0], ast.Name)):
            continue
        of, module = value.args[0].id, scope.module
        begun = code.before(loop, [f"peak = {module}.full((), {_infinity(scope)})"])
        highest = f"{of}.max(axis=-1, keepdims=True)"
        if scope.torch:
            highest = f"{of}.amax(dim=-1, keepdim=True)"
        lines = [f"higher = {module}.maximum(peak, {highest})"]
        lines += [f"{name} = {name} * {module}.exp(peak - higher)" for name in sums]
        grown = code.before(statement, [*lines, "peak = higher"])
        if begun is not None and grown is not None:
            changes = (begun, grown, code.change(value.args[0], f"{of} - peak"))
            yield Edit(f"a running maximum is subtracted from `{of}`", changes)


def _infinity(scope: Scope) -> str:
    return 'float("-inf")' if scope.torch else "-np.inf"


def _maxima(scope: Scope) -> tuple[str, str] | None:
    """Return the old and the new maximum, from the ``m = m_new`` that ends a block."""
    for statement in scope.statements:
        plain = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
        if plain and _in_loop(scope, statement) and isinstance(statement, ast.Assign):
            old, new = targets(statement), scope.code.text(statement.value)
            if len(old) == 1 and any(new in targets(other) for other in scope.statements):
                return old[0], new
    return None


def _factor(scope: Scope, old: str, new: str) -> str:
    """Return what rescales: a name that is given it, or the exponential itself."""
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        if value is not None and called(value) == "exp" and {old, new} <= names(value):
            return (targets(statement) or [scope.code.text(value)])[0]
    return f"{scope.module}.exp({old} - {new})"


def _sums(scope: Scope) -> list[str]:
    """Return names that begin at zero before a loop."""
    return [
        name
        for statement in scope.statements
        if not _in_loop(scope, statement)
        and called(getattr(statement, "value", None)) in ("zeros", "zeros_like", "new_zeros")
        for name in targets(statement)
    ]


def _in_loop(scope: Scope, statement: ast.stmt) -> bool:
    return any(isinstance(above, (ast.For, ast.While)) for above in scope.code.around(statement))
