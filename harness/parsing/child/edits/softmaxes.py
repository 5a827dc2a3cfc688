"""The softmax: over what, of what, and the maximum that keeps it finite."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, called, operands, quoted, targets, walk
from .scopes import Scope

INSTEAD = ("sigmoid", "log_softmax", "tanh", "relu", "exp", "normalize", "softplus")


def maximum(scope: Scope) -> Iterator[Edit]:
    """The maximum is subtracted before the exponential."""
    code = scope.code
    own = next((p for p in scope.parameters if p in ("axis", "dim")), "-1")
    for call in scope.calls:
        given = scope.given(call)
        if called(call) != "exp" or not given:
            continue
        for of in dict.fromkeys((code.text(given[0]), scope.root(given[0]))):
            if of.isidentifier():
                peak = f"{of}.amax(dim={own}, keepdim=True)"
                if not scope.torch:
                    peak = f"{of}.max(axis={own}, keepdims=True)"
                yield code.swap(given[0], f"{of} - {peak}")


def normalised(scope: Scope) -> Iterator[Edit]:
    """A softmax in place of what is not one, or where none is."""
    yield from _of_dropped_scores(scope)
    if len(scope.products) > 1:
        yield from _for_whole_values(scope)
    yield from _for_other_calls(scope)
    yield from _before_the_last_product(scope)


def _of_dropped_scores(scope: Scope) -> Iterator[Edit]:
    """What goes into dropout goes through a softmax first."""
    code = scope.code
    for call in scope.calls:
        if called(call) in ("dropout", "Dropout") and scope.given(call):
            of = code.text(scope.given(call)[0])
            if of == scope.scores:
                yield code.swap(scope.given(call)[0], scope.softmax(of))


def _for_whole_values(scope: Scope) -> Iterator[Edit]:
    """A statement's value that normalises the scores in another way becomes their softmax."""
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        if value is None or called(value) in ("dropout", "Dropout"):
            continue
        of = _scores_in(scope, value)
        if of and _is_normaliser(value):
            yield scope.code.swap(value, scope.softmax(of))
        elif scope.scores and scope.weights in targets(statement):
            yield scope.code.swap(value, scope.softmax(scope.scores))


def _for_other_calls(scope: Scope) -> Iterator[Edit]:
    """Calls such as sigmoid become a softmax."""
    code = scope.code
    for call in scope.calls:
        if called(call) in INSTEAD and scope.given(call) and called(call) != "exp":
            of = code.text(scope.given(call)[0])
            if of.isidentifier():
                yield code.swap(call, scope.softmax(of))


def _before_the_last_product(scope: Scope) -> Iterator[Edit]:
    """A line of its own takes the softmax of what is multiplied by the values."""
    code = scope.code
    for product in scope.products[1:]:
        pair = operands(product)
        if pair and isinstance(pair[0], ast.Name):
            name = pair[0].id
            line = code.before(code.statement(product), [f"{name} = {scope.softmax(name)}"])
            if line is not None:
                yield Edit(f"`{name}` goes through a softmax", (line,))


def _scores_in(scope: Scope, value: ast.AST | None) -> str:
    if value is None:
        return ""
    found = [n.id for n in walk(value) if isinstance(n, ast.Name)]
    return next((n for n in found if n == scope.scores), "")


def _is_normaliser(value: ast.AST) -> bool:
    """Tell whether an expression divides by a sum, takes exponentials or picks the largest."""
    calls = {called(node) for node in walk(value)}
    return bool(calls & {"sum", "exp", "sigmoid", "argmax", "max"}) and not calls & {"where"}


def inward(scope: Scope) -> Iterator[Edit]:
    """The softmax is taken of the scores, not of their product with V."""
    code = scope.code
    for softmax in scope.softmaxes:
        given = scope.given(softmax)
        pair = operands(given[0]) if given else []
        if pair:
            inner, outer = code.span(given[0]), code.span(softmax)
            first = code.span(pair[0])
            before = code.data[outer[0] : inner[0]].decode()
            after = code.data[inner[1] : outer[1]].decode()
            head = code.data[inner[0] : first[0]].decode()
            tail = code.data[first[1] : inner[1]].decode()
            new = f"{head}{before}{code.text(pair[0])}{after}{tail}"
            yield Edit(f"the softmax in {quoted(code.text(softmax))} is of the scores",
                       (Change(*outer, new),))  # fmt: skip


def own_softmax(scope: Scope) -> Iterator[Edit]:
    """The exponential and the sum give way to a softmax."""
    code = scope.code
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and targets(statement):
            divisor = {called(node) for node in walk(value.right)}
            name = scope.root(value.left)
            if "sum" in divisor and name:
                made = _exponential_of(scope, name)
                if made:
                    yield code.swap(value, scope.softmax(made))


def _exponential_of(scope: Scope, name: str) -> str:
    for statement in scope.statements:
        if name in targets(statement):
            value = getattr(statement, "value", None)
            if value is not None and any(called(node) == "exp" for node in walk(value)):
                return scope.root(value)
    return ""
