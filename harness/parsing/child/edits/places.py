"""What the statements of a function are about, in the words of stages and flaws."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .axes import RESHAPES, TRANSPOSES
from .masks import MASKINGS
from .reading import Change, called, is_self, names, walk
from .scopes import Scope

Place = tuple[int, int, frozenset[str]]


def places(scope: Scope) -> list[Place]:
    """Return the spans of statements, without those in them, from the start of their lines."""
    found = []
    for statement in scope.statements:
        start, end = scope.code.span(statement)
        body = getattr(statement, "body", None)
        if body:
            end = scope.code.span(body[0])[0]
        indent = scope.code.indent(statement)
        start -= 0 if indent.strip() else len(indent)
        found.append((start, end, frozenset(_words(scope, statement))))
    return found


def about(changes: tuple[Change, ...], of: list[Place]) -> list[str]:
    """Return the words of the statements that changes are in, or right before."""
    touched = [
        words
        for start, end, words in of
        if any(c.start < end and max(c.end, c.start + 1) > start for c in changes)
    ]
    return sorted(frozenset[str]().union(*touched))


def _words(scope: Scope, statement: ast.stmt) -> Iterator[str]:
    inside = [*walk(statement)]
    calls = {called(node) for node in inside}
    first, last = scope.products[:1], scope.products[1:][-1:]
    late = bool(last) and statement.lineno >= last[0].lineno
    if any(node in inside for node in first):
        yield from ("score", "scores", "scored", "scale", "scaled")
    if any(node in inside for node in last):
        yield from ("aggregate", "aggregated", "weights", "values")
    if calls & {"exp"} or "softmax" in scope.name.lower() or any("softmax" in c for c in calls):
        yield from ("normalise", "softmax", "maximum")
    if calls & {*MASKINGS, "tril", "triu", "tri"} or names(statement) & {*scope.masks}:
        yield from ("mask", "masks", "fill", "causal", "padding")
    if calls & {*RESHAPES, *TRANSPOSES} and not any(node in inside for node in (*first, *last)):
        yield from ("heads", "merge" if late else "split")
    if any(isinstance(node, ast.Call) and is_self(node) for node in inside):
        yield from ("projection", "project", "output" if late else "input")
    if calls & {"cat", "concat", "concatenate"}:
        yield "cache"
    if any("norm" in call.lower() for call in calls):
        yield "norm"
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) for node in inside):
        yield from ("residual", "block")
