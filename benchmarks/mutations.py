"""Generic edits of a program, one at a time: what a slip of the hand makes of right code.

Nothing here knows attention: constants, operators, comparisons, names of methods, arguments and
statements are exchanged, changed or left out wherever they stand.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

#: An edit of one node: what is put in its place.
Edit = Callable[[ast.AST], Iterator[ast.AST]]

_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
#: Functions and attributes that are taken for one another.
_NAMES = {
    "max": "min", "amax": "amin", "maximum": "minimum", "exp": "exp2", "sqrt": "square",
    "sum": "mean", "tril": "triu", "triu": "tril", "sin": "cos", "cos": "sin", "ones": "zeros",
    "zeros": "ones", "softmax": "log_softmax", "zeros_like": "ones_like", "gelu": "relu",
    "reshape": "view", "concatenate": "stack", "repeat": "tile", "logical_and": "logical_or",
    "size": "numel", "float64": "float32", "ones_like": "zeros_like", "log": "log2",
}  # fmt: skip


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield (what was changed, the program with it), each program once."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        for number, edited in enumerate(_edits(node)):
            program = copy.deepcopy(tree)
            target = next(n for index, n in enumerate(ast.walk(program)) if index == place)
            _put(program, target, edited)
            text = ast.unparse(ast.fix_missing_locations(program))
            if text not in seen:
                seen.add(text)
                line = getattr(node, "lineno", 0)
                kind = type(node).__name__
                yield f"line {line}: {kind} {place}.{number} -> {_short(edited)}", text


def _short(node: ast.AST) -> str:
    return ast.unparse(node).replace("\n", "; ")[:60]


def _put(program: ast.AST, target: ast.AST, edited: ast.AST) -> None:
    """Put a node in the place of another, which is an item of a list or a field."""
    for parent in ast.walk(program):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, edited)
                return
            if isinstance(value, list) and any(item is target for item in value):
                value[:] = [edited if item is target else item for item in value]
                return


def _edits(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant():
            yield from _of_constant(node)
        case ast.BinOp(left, operator, right):
            for other in _OPERATORS.get(type(operator), ()):
                yield ast.BinOp(left, other(), right)
            yield left
            if isinstance(operator, (ast.Sub, ast.Div, ast.MatMult)):
                yield ast.BinOp(right, operator, left)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Compare(left, [comparison], [right]):
            for kind in _COMPARISONS.get(type(comparison), ()):
                yield ast.Compare(left, [kind()], [right])
        case ast.Attribute(value, name, context) if name in _NAMES:
            yield ast.Attribute(value, _NAMES[name], context)
        case ast.Call():
            yield from _of_call(node)
        case ast.Subscript(value, ast.Tuple(), ast.Load()):
            yield value
        case ast.Tuple(items, context) | ast.List(items, context) if len(items) > 1:
            for first in range(len(items) - 1):
                swapped = [*items]
                swapped[first : first + 2] = reversed(swapped[first : first + 2])
                yield type(node)(swapped, context)
        case ast.AugAssign(target, operator, value):
            for other in _OPERATORS.get(type(operator), ()):
                yield ast.AugAssign(target, other(), value)
            yield ast.Pass()
        case ast.Assign(_, _):
            if isinstance(node.value, (ast.BinOp, ast.Call)):
                yield ast.Pass()
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(value=False), body, orelse)
            yield ast.If(ast.Constant(value=True), body, orelse)
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse


def _of_constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(value=not value)
    elif isinstance(value, int):
        for other in (value + 1, value - 1, -value):
            yield ast.Constant(value=other)
    elif isinstance(value, float):
        for other in (-value, value * 2, value / 2, value * 1e-6, 0.0):
            yield ast.Constant(value=other)
    elif isinstance(value, str) and "->" in value:
        left, right = value.split("->")
        yield ast.Constant(value=f"{left}->{right[::-1]}")
        yield ast.Constant(value=f"{left}->{right[:-2]}{right[:-3:-1]}")


def _of_call(node: ast.Call) -> Iterator[ast.AST]:
    for place in range(len(node.args) - 1):
        args = [*node.args]
        args[place : place + 2] = reversed(args[place : place + 2])
        yield ast.Call(node.func, args, node.keywords)
    for place in range(len(node.keywords)):
        rest = [*node.keywords[:place], *node.keywords[place + 1 :]]
        yield ast.Call(node.func, node.args, rest)
    if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
        yield node.func.value  # the method is not called
    if (
        len(node.args) == 1
        and not node.keywords
        and isinstance(node.func, ast.Name | ast.Attribute)
    ):
        yield node.args[0]  # the function is not called
    if isinstance(node.func, ast.Attribute) and len(node.args) > 1:
        yield node.args[0]
