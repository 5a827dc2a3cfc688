"""A Python source as a tree whose every node knows its place.

Edits are spans of the source with new text, so that all else stays as the candidate wrote it and
edits of different places can be made together.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

PRODUCTS: Final = ("matmul", "einsum", "bmm", "dot", "mm", "baddbmm", "tensordot", "inner")
_USUAL_MODULES: Final = ("np", "numpy", "torch", "math", "F", "nn", "functional")
_LOOSE: Final = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Starred, ast.Tuple,
)  # fmt: skip
_TIGHT_PARENTS: Final = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Subscript)
#: Code of this length says little without its surroundings.
_SHORT: Final = 12
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Change:
    """New text for a span of the source, in bytes of UTF-8."""

    start: int
    end: int
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Edit:
    """One repair to try."""

    description: str
    changes: tuple[Change, ...]
    alike: str = ""  #: what it does, the same for edits of one idea; by default old and new text


class Code:
    """A source and its tree.

    Raises:
        SyntaxError, ValueError, RecursionError: it is not valid Python, or too deep.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._parents = {
            child: node for node in walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        self.imported = set(_imported(self.tree))
        self.modules = self.imported | {*_USUAL_MODULES}
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, Function)}
        self.classes = {n.name: n for n in self.tree.body if isinstance(n, ast.ClassDef)}

    def span(self, node: Any) -> tuple[int, int]:
        """Return where a node begins and ends; a call's generator argument has its own brackets."""
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        """Return a node as it is written."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node around a node."""
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, the nearest first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that a node is in, or is."""
        if isinstance(node, ast.stmt):
            return node
        return next(above for above in self.around(node) if isinstance(above, ast.stmt))

    def change(self, node: ast.AST, new: str) -> Change:
        """Put an expression in a node's place, in parentheses where it needs them."""
        start, end = self.span(node)
        parent = self.parent(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        tight = called or isinstance(parent, _TIGHT_PARENTS)
        if isinstance(parent, ast.Subscript) and parent.slice is node:
            tight = False
        if tight and is_loose(new) and not self._in_parentheses(start, end):
            new = f"({new})"
        return Change(start, end, new)

    def swap(self, node: ast.AST, new: str) -> Edit:
        """Make the edit that puts an expression in a node's place."""
        description = f"{quoted(self.text(node))} becomes {quoted(new)}"
        if len(self.text(node)) <= _SHORT:
            description += f" in {quoted(self.text(self.statement(node)))}"
        return Edit(description, (self.change(node, new),))

    def argument(self, call: ast.Call, new: str) -> Change:
        """Add an argument at the end of a call."""
        _, end = self.span(call)
        before = self.data[: end - 1].rstrip()
        comma = "" if before.endswith((b"(", b",")) else ", "
        return Change(end - 1, end - 1, comma + new)

    def lines(self, first: ast.stmt, last: ast.stmt | None = None) -> Change | None:
        """Return the whole lines of statements, to be removed; None if they share a line."""
        decorators = getattr(first, "decorator_list", [])
        start = self._starts[min([first.lineno, *(d.lineno for d in decorators)]) - 1]
        assert first.end_lineno is not None
        until = last or first
        assert until.end_lineno is not None
        end = self._starts[min(until.end_lineno, len(self._starts) - 1)]
        own = self.span(first)[0] if not decorators else start
        before = self.data[start:own].strip()
        after = self.data[self.span(until)[1] : end].split(b"#")[0].strip()
        return None if before or after else Change(start, end, "")

    def indent(self, statement: ast.stmt) -> str:
        """Return the white space before a statement."""
        start = self._starts[statement.lineno - 1]
        return self.data[start : self.span(statement)[0]].decode()

    def before(self, statement: ast.stmt, lines: Sequence[str]) -> Change | None:
        """Insert lines before a statement; None if it does not begin its line."""
        indent = self.indent(statement)
        if indent.strip():
            return None
        start = self._starts[statement.lineno - 1]
        return Change(start, start, "".join(f"{indent}{line}\n" for line in lines))

    def _in_parentheses(self, start: int, end: int) -> bool:
        return self.data[:start].rstrip().endswith(b"(") and self.data[end:].lstrip().startswith(
            b")"
        )


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes in the order they are written, f-strings excluded: their places are unsure."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            yield from walk(child)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def names(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}


def targets(statement: ast.AST) -> list[str]:
    """Return the names that a statement gives values to."""
    if isinstance(statement, ast.Assign):
        nodes: Iterable[ast.AST] = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        nodes = [statement.target]
    else:
        return []
    return [
        inner.id
        for node in nodes
        for inner in walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    ]


def called(call: ast.AST | None) -> str:
    """Return the last part of the name of what is called, or ""."""
    if not isinstance(call, ast.Call):
        return ""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_self(call: ast.Call) -> bool:
    """Tell whether a call is of a method or part of ``self``."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(of, ast.Name) and of.id == "self"


def is_product(node: ast.AST) -> bool:
    """Tell whether an expression is a matrix product itself."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return called(node) in PRODUCTS


def operands(product: ast.AST) -> list[ast.expr]:
    """Return both operands of a product, or nothing."""
    if isinstance(product, ast.BinOp):
        return [product.left, product.right]
    if not isinstance(product, ast.Call):
        return []
    given = [a for a in product.args if not isinstance(a, (ast.Constant, ast.Starred))]
    if len(given) == 1 and isinstance(product.func, ast.Attribute):
        given.insert(0, product.func.value)
    return given if len(given) == 2 else []


def is_loose(text: str) -> bool:
    """Tell whether an expression needs parentheses inside another."""
    try:
        return isinstance(ast.parse(text, mode="eval").body, _LOOSE)
    except SyntaxError:
        return True


def quoted(text: str, cap: int = 60) -> str:
    """Quote code in a description, shortened to one line."""
    line = " ".join(text.split())
    return f"`{line if len(line) <= cap else line[: cap - 1] + '…'}`"
