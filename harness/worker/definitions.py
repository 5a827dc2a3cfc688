"""The definitions of a module that does not execute as a whole.

Demo code at top level may need a file, a display or an hour. The functions beside it are what
is graded, so they are tried alone: imports, functions, classes, and assignments that call
nothing that could take long.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from . import failure

SKIPPED_CAP = 20
_QUICK = {
    *("abs", "bool", "dict", "float", "frozenset", "int", "len", "list", "max", "min", "range"),
    *("round", "set", "str", "sum", "tuple", "namedtuple", "NewType", "TypeVar", "device"),
    *("exp", "log", "sqrt"),
}
_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def execute(
    tree: ast.Module, namespace: dict[str, Any], file: str, *, after: int
) -> list[dict[str, Any]]:
    """Execute the definitions from line ``after`` on; return those that could not be.

    The names that came before the line are in ``namespace`` already. The statement that raised
    is tried again if it is a definition: of ``import a, b`` only ``a`` may be missing.
    """
    skipped = []
    future = _future_flags(tree)
    for statement in _definitions(tree.body, namespace):
        if (statement.end_lineno or 0) < after:
            continue
        try:
            module = ast.Module(body=[statement], type_ignores=[])
            exec(compile(module, file, "exec", future, dont_inherit=True), namespace)
        except BaseException as error:
            why = failure.in_words(failure.describe(error, (file,)))
            skipped.append({"line": statement.lineno, "why": why})
    return skipped[:SKIPPED_CAP]


def _future_flags(tree: ast.Module) -> int:
    import __future__

    names = [
        alias.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for alias in statement.names
    ]
    flags = 0
    for name in names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


def _definitions(body: Iterable[ast.stmt], namespace: dict[str, Any]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            yield from _one_by_one(statement)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            if statement.value is not None and _is_quick(statement.value):
                yield statement
        elif isinstance(statement, ast.Try):
            # ``try: import x`` and its fallback: both are tried, in order.
            yield from _definitions(statement.body, namespace)
            for handler in statement.handlers:
                yield from _definitions(handler.body, namespace)
        elif isinstance(statement, ast.If) and not _asks_for_main(statement.test):
            yield from _definitions(statement.body, namespace)
            yield from _definitions(statement.orelse, namespace)


def _one_by_one(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Split ``import a, b`` so that a missing one does not take the other along."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield ast.copy_location(ast.Import(names=[alias]), statement)
    else:
        yield statement


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _is_quick(node: ast.AST) -> bool:
    """Tell whether an expression calls nothing, or only what returns at once."""
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
        return False
    if isinstance(node, ast.Call):
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name not in _QUICK:
            return False
    return all(_is_quick(child) for child in ast.iter_child_nodes(node))
