"""Blocks: a residual round each part, a norm before it, and the activation between two layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, is_self, quoted, targets, walk
from .scopes import Scope

_ACTIVATIONS = {"relu": "gelu", "silu": "gelu", "tanh": "gelu", "sigmoid": "gelu", "elu": "gelu"}
_MODULES = {"ReLU": "GELU", "SiLU": "GELU", "Tanh": "GELU", "Sigmoid": "GELU", "ELU": "GELU"}


def normed(scope: Scope) -> Iterator[Edit]:
    """What is added goes through a norm of the object's that nothing calls, before its part."""
    code, idle = scope.code, _idle_norms(scope)
    sums = [
        (x, call.args[0])
        for x, call in _sums(scope)
        if not (isinstance(call.args[0], ast.Call) and is_self(call.args[0]))
    ]
    one_each = [
        code.change(given, f"self.{norm}({x})")
        for (x, given), norm in zip(sums, idle, strict=False)
    ]
    if len(one_each) > 1:
        yield Edit("each part is given what its norm makes", tuple(sorted(one_each)))
    for x, given in sums:
        for norm in idle:
            yield code.swap(given, f"self.{norm}({x})")


def _sums(scope: Scope) -> Iterator[tuple[str, ast.Call]]:
    """Yield x and the call in ``x + self.part(...)``."""
    for node in scope.binaries:
        for one, other in ((node.left, node.right), (node.right, node.left)):
            part = isinstance(other, ast.Call) and is_self(other) and other.args
            if isinstance(node.op, ast.Add) and isinstance(one, ast.Name) and part:
                assert isinstance(other, ast.Call)
                yield one.id, other


def _idle_norms(scope: Scope) -> list[str]:
    """Return the norms among an object's layers that none of its methods calls."""
    owner = scope.code.parent(scope.node)
    if not isinstance(owner, ast.ClassDef):
        return []
    used = {called(node) for node in walk(owner) if isinstance(node, ast.Call) and is_self(node)}
    made = {
        node.targets[0].attr: called(node.value)
        for node in walk(owner)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
    }
    return [n for n in scope.layers if "norm" in made.get(n, "").lower() and n not in used]


def residual(scope: Scope) -> Iterator[Edit]:
    """What goes into a part is added to what comes out: as it was before the norm."""
    code = scope.code
    origin: dict[str, str] = {}
    for statement in scope.statements:
        value, target = getattr(statement, "value", None), (targets(statement) or [""])[0]
        if not isinstance(value, ast.Call) or not is_self(value) or not value.args:
            continue
        x = _input(scope, value.args[0])
        origin[target] = x
        if x and (target == x or isinstance(statement, ast.Return)):
            yield code.swap(value, f"{x} + {code.text(value)}")
    for node in scope.binaries:
        before = origin.get(node.left.id, "") if isinstance(node.left, ast.Name) else ""
        if isinstance(node.op, ast.Add) and before and before != code.text(node.left):
            yield code.swap(node.left, before)


def _input(scope: Scope, node: ast.AST) -> str:
    """Return x of ``self.norm(x)``."""
    found = (n.id for n in walk(node) if isinstance(n, ast.Name) and not scope.is_module(n))
    return next((name for name in found if name != "self"), "")


def norm_first(scope: Scope) -> Iterator[Edit]:
    """The norm of what is added, or of the sum, becomes the norm of what a part is given."""
    code = scope.code
    norms: dict[str, tuple[ast.stmt, str]] = {}
    for statement in scope.statements:
        value, target = getattr(statement, "value", None), (targets(statement) or [""])[0]
        if isinstance(value, ast.Call) and is_self(value) and len(value.args) == 1:
            whole, sums = value.args[0], _sums_in(scope, value.args[0])
            for x, call in sums:  # x = self.norm(x + self.part(x))
                given = f"{code.text(value.func)}({x})"
                changes = [
                    Change(code.span(value)[0], code.span(whole)[0], ""),
                    code.change(call.args[0], given),
                    Change(code.span(whole)[1], code.span(value)[1], ""),
                ]
                yield Edit("the norm comes before the part", tuple(changes), alike="norm first")
            if not sums and target == _input(scope, whole):
                norms[target] = (statement, code.text(value.func))
        for x, call in _sums_in(scope, value) if value is not None else []:
            norm, func = norms.pop(x, (None, ""))
            removed = code.lines(norm) if norm is not None else None
            if removed is not None and isinstance(call.args[0], ast.Name):
                change = code.change(call.args[0], f"{func}({x})")
                what = "the norm comes before the part only"
                yield Edit(what, (removed, change), alike="norm first")


def _sums_in(scope: Scope, node: ast.AST) -> list[tuple[str, ast.Call]]:
    inside = [*walk(node)]
    return [(x, call) for x, call in _sums(scope) if call in inside]


def activation(scope: Scope) -> Iterator[Edit]:
    """Another activation, or one where a layer follows a layer."""
    code = scope.code
    for call in scope.calls:
        name = called(call)
        new = _ACTIVATIONS.get(name) or _MODULES.get(name)
        if new is not None:
            _, end = code.span(call.func)
            change = Change(end - len(name.encode()), end, new)
            yield Edit(f"`{name}` becomes `{new}`", (change,))
        inner = call.args[0] if call.args else None
        layers = isinstance(inner, ast.Call) and is_self(inner) and is_self(call)
        if layers and inner is not None and {called(inner), name} <= {*scope.layers}:
            yield code.swap(inner, f"torch.nn.functional.gelu({code.text(inner)})")


def idle_part(scope: Scope) -> Iterator[Edit]:
    """A method that nothing calls is a part of the block, with a norm and a residual."""
    code, owner = scope.code, scope.code.parent(scope.node)
    if not isinstance(owner, ast.ClassDef) or scope.name == "__init__":
        return
    used = {n.attr for n in walk(owner) if isinstance(n, ast.Attribute)}
    methods = [m for m in owner.body if isinstance(m, Function) and len(m.args.args) == 2]
    idle = [m.name for m in methods if m.name not in used and m.name not in ("forward", scope.name)]
    for statement in scope.statements:
        value = statement.value if isinstance(statement, ast.Return) else None
        if not isinstance(value, ast.Name):
            continue
        for part in idle:
            for given in (*(f"self.{n}({value.id})" for n in _idle_norms(scope)), value.id):
                line = f"{value.id} = {value.id} + self.{part}({given})"
                if (inserted := code.before(statement, [line])) is not None:
                    yield Edit(f"{quoted(line)} is added", (inserted,))
