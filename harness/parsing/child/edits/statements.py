"""Whole statements: left out, made to run always, put in another order, or without side effects."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, names, quoted, targets, walk
from .scopes import Scope


def left_out(scope: Scope) -> Iterator[Edit]:
    """A statement is left out, unless a name would have no value then."""
    code = scope.code
    if not scope.name:
        return
    found: list[tuple[int, Edit]] = []
    known = set(scope.parameters)
    for statement in scope.statements:
        doubt, needed, written = 2, False, {*targets(statement)}
        if isinstance(statement, ast.Assign):
            named = any(isinstance(node, (ast.Name, ast.Tuple)) for node in statement.targets)
            kept = any(isinstance(node, ast.Attribute) for node in statement.targets)
            needed = (named and not written <= known) or (kept and scope.is_constructor)
            doubt = 0
        elif isinstance(statement, (ast.AugAssign, ast.If)):
            doubt = 0 if isinstance(statement, ast.AugAssign) else 1
        known |= written
        if needed or _is_needed(statement):
            continue
        change = code.lines(statement)
        if change is None:
            continue
        above = code.parent(statement)
        if len(getattr(above, "body", [])) == 1 and statement in getattr(above, "body", []):
            change = Change(change.start, change.end, f"{code.indent(statement)}pass\n")
        edit = Edit(f"{quoted(code.text(statement))} is left out", (change,))
        found.append((doubt, edit))
    found += ((0, edit) for edit in _both_left_out(scope))
    yield from (edit for _, edit in sorted(found, key=lambda one: one[0]))


def _is_needed(statement: ast.stmt) -> bool:
    kept = (ast.Return, *Function.__args__, ast.ClassDef, ast.Raise)
    value = getattr(statement, "value", None)
    says = isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)
    return isinstance(statement, kept) or says or called(value) == "__init__"


def _both_left_out(scope: Scope) -> Iterator[Edit]:
    """Two statements in a row that give the same name another value of itself."""
    code = scope.code
    for one, other in itertools.pairwise(scope.statements):
        both = [s for s in (one, other) if isinstance(s, ast.Assign)]
        again = [targets(s)[0] for s in both if {*targets(s)} & names(s.value)]
        change = code.lines(one, other)
        if len(again) == 2 and again[0] == again[1] and change is not None:
            what = f"{quoted(code.text(one))} and {quoted(code.text(other))} are left out"
            yield Edit(what, (change,))


def condition(scope: Scope) -> Iterator[Edit]:
    """The condition of an if: always true, its opposite, or without its else."""
    code = scope.code
    for node in scope.nodes:
        if not isinstance(node, ast.If):
            continue
        if "None" not in code.text(node.test):
            yield code.swap(node.test, "True")
            yield code.swap(node.test, f"not ({code.text(node.test)})")
        if [type(other) for other in node.orelse] == [ast.If]:
            start, _ = code.span(node.orelse[0])
            test = getattr(node.orelse[0], "test", node.test)
            if code.data[start:].startswith(b"elif"):
                change = Change(start, start + len("elif"), "if")
                yield Edit(f"`elif {code.text(test)}` becomes `if`", (change,))
        if node.orelse:
            start, end = code.span(node.body[-1])[1], code.span(node.orelse[-1])[1]
            yield Edit("the else branch is left out", (Change(start, end, ""),))


def decorator(scope: Scope) -> Iterator[Edit]:
    """A decorator is left out."""
    if isinstance(scope.node, Function):
        for node in scope.node.decorator_list:
            start, end = scope.code.span(node)
            before = scope.code.data[:start].rstrip(b" @")
            after = len(scope.code.data) - len(scope.code.data[end:].lstrip(b" \t\r\n"))
            indent = scope.code.data[len(before) : start].rstrip(b"@").decode()
            yield Edit(
                f"{quoted('@' + scope.code.text(node))} is left out",
                (Change(len(before), after, indent),),
            )


def sequence(scope: Scope) -> Iterator[Edit]:
    """Two statements that follow each other change places."""
    code = scope.code
    known = set(scope.parameters)
    for one, other in itertools.pairwise(scope.statements):
        given, made = _given(one), _given(other)
        fresh, known = given - known, known | given
        matters = given & names(other) or made & names(one)
        if code.parent(one) is not code.parent(other) or not matters or fresh & _read(other):
            continue
        first, second = code.lines(one), code.lines(other)
        if first and second and not isinstance(other, ast.Return):
            moved = code.data[second.start : second.end].decode().rstrip("\n") + "\n"
            changes = (Change(first.start, first.start, moved), second)
            yield Edit(f"{quoted(code.text(other))} comes before {quoted(code.text(one))}", changes)


def _given(statement: ast.stmt) -> set[str]:
    """Return the names that a statement, or one in it, gives a value."""
    found = (node for node in walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in found if isinstance(node.ctx, ast.Store)}


def _read(statement: ast.stmt) -> set[str]:
    found = (node for node in walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in found if isinstance(node.ctx, ast.Load)}


def in_place(scope: Scope) -> Iterator[Edit]:
    """What changes an array becomes what makes a new one."""
    code = scope.code
    for node in scope.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            start, end = code.span(node.target)[1], code.span(node.value)[0]
            symbol = code.data[start:end].decode().split("=")[0].strip()
            value = code.text(node.value)
            value = f"({value})" if isinstance(node.value, ast.BinOp) else value
            new = f"{node.target.id} = {node.target.id} {symbol} {value}"
            was = code.span(node)
            yield Edit(f"{quoted(code.text(node))} becomes {quoted(new)}", (Change(*was, new),))
        elif isinstance(node, ast.Call):
            yield from _without_effect(scope, node)


def _without_effect(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    code = scope.code
    for keyword in call.keywords:
        if keyword.arg == "out":
            start, end = code.span(keyword)
            before = code.data[:start].rstrip(b" ,\n")
            yield Edit(f"`{code.text(keyword)}` is left out", (Change(len(before), end, ""),))
    name, receiver = called(call), scope.receiver(call)
    if name.endswith("_") and not name.endswith("__") and receiver is not None:
        _, end = code.span(call.func)
        changes = [Change(end - 1, end, "")]
        if isinstance(code.parent(call), ast.Expr):
            start = code.span(call)[0]
            changes.insert(0, Change(start, start, f"{scope.root(receiver)} = "))
        yield Edit(f"`{name}` becomes `{name[:-1]}`", tuple(changes))


def copied(scope: Scope) -> Iterator[Edit]:
    """A function works on a copy of what it is given."""
    if not isinstance(scope.node, ast.FunctionDef):
        return
    body = [s for s in scope.node.body if not isinstance(s, ast.Expr)]
    method = "clone" if scope.torch else "copy"
    for name in scope.arrays:
        line = scope.code.before(body[0], [f"{name} = {name}.{method}()"]) if body else None
        if line is not None:
            yield Edit(f"`{name}` is copied first", (line,))
