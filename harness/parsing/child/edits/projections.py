"""Layers: one for each role, made once in ``__init__``, registered, and the one after the heads."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, is_self, names, quoted, targets, walk
from .scopes import Scope

_MERGES = ("reshape", "view", "flatten")
_MADE = ("randn", "rand", "zeros", "ones", "empty", "normal", "tensor", "full")


def own_layer(scope: Scope) -> Iterator[Edit]:
    """What a layer is used for again gets a layer of its own."""
    uses: dict[str, list[ast.Call]] = {}
    for call in scope.calls:
        if is_self(call) and called(call) in scope.layers:
            uses.setdefault(called(call), []).append(call)
    for name, calls in uses.items():
        later = calls[1:]
        groups = [later, *([one] for one in later)] if len(later) > 1 else [later]
        yield from filter(None, (_with_own(scope, name, group) for group in groups if group))


def _with_own(scope: Scope, name: str, calls: list[ast.Call]) -> Edit | None:
    code, made = scope.code, _made(scope, name)
    end = None if made is None else code.lines(made)
    if made is None or end is None:
        return None
    changes, lines = [], []
    for call in calls:
        own = f"{_role(scope, call)}_proj"
        changes.append(Change(*code.span(call.func), f"self.{own}"))
        if own not in scope.layers:
            lines.append(f"{code.indent(made)}self.{own} = {code.text(made.value)}\n")
    changes.append(Change(end.end, end.end, "".join(lines)))
    more = f", and {len(calls) - 1} more" if len(calls) > 1 else ""
    what = f"{quoted(code.text(code.statement(calls[0])))} gets a layer of its own{more}"
    return Edit(what, tuple(sorted(changes)))


def _made(scope: Scope, name: str) -> ast.Assign | None:
    """Return the statement that makes a layer."""
    owner = scope.code.parent(scope.node)
    for node in walk(owner or scope.node):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Attribute) and target.attr == name:
            return node if isinstance(node, ast.Assign) else None
    return None


def _role(scope: Scope, call: ast.Call) -> str:
    """Return the name that is given what a layer makes."""
    statement = scope.code.statement(call)
    given, value = targets(statement), getattr(statement, "value", None)
    if isinstance(value, ast.Tuple) and len(given) == len(value.elts):
        places = [n for n, one in enumerate(value.elts) if call in [*walk(one)]]
        return given[places[0]].strip("_") if places else "own"
    return (given or ["own"])[0].strip("_")


def after_heads(scope: Scope) -> Iterator[Edit]:
    """What comes of the merged heads goes through a layer, an idle one if there is one."""
    code, owner = scope.code, scope.code.parent(scope.node)
    if not isinstance(owner, ast.ClassDef) or scope.name == "__init__" or not scope.layers:
        return
    used = {n.attr for n in walk(owner) if isinstance(n, ast.Attribute) and _is_read(n)}
    idle = [layer for layer in scope.layers if layer not in used]
    square = [made for layer in scope.layers if (made := _made(scope, layer)) and _is_square(made)]
    added = [] if idle or not square else _after(scope, square[-1], "out_proj", square[-1].value)
    for value in _merged(scope):
        for layer in idle or (["out_proj"] if added else []):
            change = code.change(value, f"self.{layer}({code.text(value)})")
            what = f"{quoted(code.text(value))} goes through `self.{layer}`"
            yield Edit(what, tuple(sorted((*added, change))))


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_square(made: ast.Assign) -> bool:
    value = made.value
    sizes = [ast.dump(size) for size in value.args[:2]] if isinstance(value, ast.Call) else []
    return called(value) == "Linear" and len(sizes) == 2 and sizes[0] == sizes[1]


def _merged(scope: Scope) -> Iterator[ast.expr]:
    """Yield what is returned first, and what is reshaped after the last product."""
    last = scope.products[-1].lineno if scope.products else 0
    for statement in reversed(scope.statements):
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Return) and value is not None:
            yield value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
        elif statement.lineno >= last and value is not None and called(value) in _MERGES:
            yield value


def _after(scope: Scope, made: ast.stmt, name: str, value: ast.AST) -> list[Change]:
    """Make another layer in the line after a statement of ``__init__``."""
    end = scope.code.lines(made)
    if end is None:
        return []
    line = f"{scope.code.indent(made)}self.{name} = {scope.code.text(value)}\n"
    return [Change(end.end, end.end, line)]


def hoisted(scope: Scope) -> Iterator[Edit]:
    """Layers that are made anew for every call are made in ``__init__``."""
    code, owner = scope.code, scope.code.parent(scope.node)
    first = _constructor(owner)
    if first is None or not first.body or scope.name == "__init__":
        return
    made = code.lines(first.body[-1])
    fresh = [c for c in scope.calls if isinstance(c.func, ast.Call) and _layer_in(c.func)]
    if made is None or not fresh:
        return
    indent = code.indent(first.body[-1])
    lines, changes = [], []
    for number, call in enumerate(fresh):
        role = _role(scope, call) if targets(code.statement(call)) else "out"
        name = f"{role}_{called(_layer_in(call.func)).lower()}{number or ''}"
        text, needed = _elsewhere(scope, _layer_in(call.func), first)
        if not text:
            return
        lines += [line for line in needed if line not in lines]
        lines.append(f"self.{name} = {text}")
        changes.append(Change(*code.span(call.func), f"self.{name}"))
    block = "".join(f"{indent}{line}\n" for line in lines)
    what = f"{quoted(code.text(fresh[0].func))} is made once, in `__init__`"
    yield Edit(what, tuple(sorted((*changes, Change(made.end, made.end, block)))))


def _constructor(owner: ast.AST | None) -> ast.FunctionDef | None:
    body = owner.body if isinstance(owner, ast.ClassDef) else []
    return next((m for m in body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)


def _layer_in(node: ast.AST | None) -> ast.Call | None:
    """Return the call of a class, e.g. of ``nn.Linear(4, 4).to(x.dtype)``."""
    while isinstance(node, ast.Call):
        if called(node)[:1].isupper():
            return node
        node = node.func.value if isinstance(node.func, ast.Attribute) else None
    return None


def _elsewhere(
    scope: Scope, layer: ast.Call | None, first: ast.FunctionDef
) -> tuple[str, list[str]]:
    """Write a layer so that ``__init__`` can make it, with the lines that it needs before it."""
    code = scope.code
    if layer is None:
        return "", []
    known = {"self", *(a.arg for a in first.args.args), *code.modules, *code.classes}
    missing = {name for argument in layer.args for name in names(argument)} - known
    needed = []
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        of_self = value is not None and names(value) == {"self"}
        if of_self and missing & {*targets(statement)}:
            needed.append(code.text(statement))
            missing -= {*targets(statement)}
    if not missing:
        return code.text(layer), needed
    like = [made for name in scope.layers if (made := _made(scope, name)) and _is_square(made)]
    if not like or not isinstance(like[-1].value, ast.Call):
        return "", []
    if called(layer) == called(like[-1].value):
        return code.text(like[-1].value), []
    width = code.text(like[-1].value.args[0])
    return (f"{code.text(layer.func)}({width})" if len(layer.args) == 1 else ""), []


def registered(scope: Scope) -> Iterator[Edit]:
    """Tensors of a module become its parameters, and a list of layers a ``ModuleList``."""
    code = scope.code
    if not isinstance(scope.node, Function) or not scope.torch:
        return
    nn = "nn" if "nn" in names(code.tree) else "torch.nn"
    for statement in scope.statements:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = getattr(statement, "value", None)
        if not isinstance(target, ast.Attribute) or value is None:
            continue
        wrapped = ""
        if {called(node) for node in walk(value)} & {*_MADE} and not called(value)[:1].isupper():
            wrapped = f"{nn}.Parameter({code.text(value)})"
        elif isinstance(value, (ast.List, ast.ListComp)):
            wrapped = f"{nn}.ModuleList({code.text(value)})"
        if wrapped:
            edit = code.swap(value, wrapped)
            yield dataclasses.replace(edit, alike=wrapped.split("(")[0].rsplit(".", 1)[-1])
