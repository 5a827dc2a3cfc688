"""What a class reads of an object that it is made from: the fields of its settings.

``config.n_head``, ``config["n_head"]``, ``config.get("n_head")`` and ``getattr(config, "n_head")``
in a constructor say that the parameter ``config`` is no size but an object that holds some.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

FIELDS_CAP = 40
NAME_CAP = 80
_ITEM_METHODS = ("get", "pop")


def fields_by_class(tree: ast.AST) -> dict[str, dict[str, list[str]]]:
    """Return, for each class by name, which fields its constructor reads of each parameter."""
    return {
        node.name: _of_constructor(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def _of_constructor(owner: ast.ClassDef) -> dict[str, list[str]]:
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            taken = [one.arg for one in (*method.args.args, *method.args.kwonlyargs)][1:]
            held = dict(_kept(method, taken))
            found: dict[str, list[str]] = {}
            for node in ast.walk(owner):
                for name, field in _read(node, taken, held):
                    fields = found.setdefault(name, [])
                    if field not in fields and len(fields) < FIELDS_CAP:
                        fields.append(field[:NAME_CAP])
            return found
    return {}


def _kept(method: ast.FunctionDef, taken: list[str]) -> Iterator[tuple[str, str]]:
    """Yield attributes of self that a parameter is kept under, as in ``self.config = config``."""
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and node.value.id in taken:
                    yield target.attr, node.value.id


def _read(node: ast.AST, taken: list[str], held: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (parameter, field) where an expression reads a field of a parameter."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[ast.Constant(field), *_]):
            if method in _ITEM_METHODS and isinstance(field, str):
                yield from _named(owner, field, taken, held)
        case ast.Call(func=ast.Name("getattr"), args=[owner, ast.Constant(field), *_]):
            if isinstance(field, str):
                yield from _named(owner, field, taken, held)
        case ast.Subscript(value=owner, slice=ast.Constant(field)):
            if isinstance(field, str):
                yield from _named(owner, field, taken, held)
        case ast.Attribute(value=owner, attr=field):
            if field not in (*_ITEM_METHODS, "items", "keys", "values"):
                yield from _named(owner, field, taken, held)


def _named(
    owner: ast.expr, field: str, taken: list[str], held: dict[str, str]
) -> Iterator[tuple[str, str]]:
    match owner:
        case ast.Name(name) if name in taken:
            yield name, field
        case ast.Attribute(value=ast.Name("self"), attr=kept) if kept in held:
            yield held[kept], field
