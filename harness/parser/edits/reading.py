"""A Python source as a tree whose every node knows its place, and what its parts are for.

Edits are spans of the source with new text, so that all else stays as the candidate wrote it and
edits of different places can be made together.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

PRODUCTS: Final = ("matmul", "einsum", "bmm", "dot", "mm", "baddbmm", "tensordot", "inner")
_USUAL_MODULES: Final = ("np", "numpy", "torch", "math", "F", "nn", "functional")
#: Names of parameters that are no arrays.
_SETTINGS: Final = ("self", "axis", "dim", "p", "training", "train", "scale", "causal")
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


class Scope:
    """A function, or the top level of the file, and what its names stand for."""

    def __init__(self, code: Code, node: Function | ast.Module, torch: bool) -> None:
        self.code = code
        self.node = node
        self.torch = torch
        self.name = node.name if isinstance(node, Function) else ""
        self.nodes = list(_own(node))
        self.statements = [n for n in self.nodes if isinstance(n, ast.stmt)]
        self.calls = [n for n in self.nodes if isinstance(n, ast.Call)]
        self.binaries = [n for n in self.nodes if isinstance(n, ast.BinOp)]
        self.parameters = _parameters(node)

    @functools.cached_property
    def arrays(self) -> list[str]:
        """Q, K and V: parameters, or what layers give, or what the products are of."""
        given = [p for p in self.parameters if p not in _SETTINGS and "mask" not in p.lower()]
        if len(given) >= 3:
            return given[:3]
        projected = [
            name
            for statement in self.statements
            if any(is_self(node) for node in walk(statement) if isinstance(node, ast.Call))
            for name in targets(statement)
        ]
        pairs = [pair for product in self.products if (pair := operands(product))]
        if len({*projected[:3]}) == 3:
            return projected[:3]
        if len(pairs) < 2:
            return given
        return [self.root(pairs[0][0]), self.root(pairs[0][1]), self.root(pairs[-1][1])]

    @functools.cached_property
    def layers(self) -> list[str]:
        """The names under which a method's object keeps its layers."""
        owner = self.code.parent(self.node)
        made = [
            node.targets[0].attr
            for node in walk(owner or self.node)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Attribute)
            and called(node.value)[:1].isupper()
        ]
        return list(dict.fromkeys(made)) if isinstance(owner, ast.ClassDef) else []

    @functools.cached_property
    def products(self) -> list[ast.expr]:
        """Matrix products, in order."""
        return [n for n in self.nodes if isinstance(n, ast.expr) and is_product(n)]

    @functools.cached_property
    def scores(self) -> str:
        """The name that the first product is given, or ""."""
        for product in self.products:
            if names := targets(self.code.statement(product)):
                return names[0]
        return ""

    @functools.cached_property
    def weights(self) -> str:
        """The name of what the softmax gives, or of what V is multiplied with, or ""."""
        for call in self.softmaxes:
            if names := targets(self.code.statement(call)):
                return names[0]
        later = [p for p in self.products[1:] if operands(p)]
        return self.root(operands(later[-1])[0]) if later else ""

    @functools.cached_property
    def masks(self) -> list[str]:
        """The mask's name, and names that are given something made of it."""
        found = [p for p in self.parameters if "mask" in p.lower()]
        found += [p for p in self.parameters if p.lower() in ("blocked", "keep", "allowed")]
        for statement in self.statements:
            if isinstance(statement, ast.Assign) and _named(statement.value) & {*found}:
                made = [n for n in targets(statement) if n not in found]
                found += [n for n in made if n not in (self.scores, self.weights)]
        return found

    @functools.cached_property
    def softmaxes(self) -> list[ast.Call]:
        """Calls of something with softmax in its name."""
        return [call for call in self.calls if "softmax" in called(call).lower()]

    def softmax(self, of: str) -> str:
        """Write the softmax over the keys in this file's own terms."""
        own = [n for n in self.code.functions if "softmax" in n.lower() and n != self.name]
        if own:
            return f"{own[0]}({of})"
        if any(called(call) == "softmax" and is_self(call) for call in self.calls):
            return f"self.softmax({of})"
        if self.torch:
            return f"{of}.softmax(dim=-1)"
        return (
            f"np.exp({of} - {of}.max(axis=-1, keepdims=True)) / "
            f"np.exp({of} - {of}.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)"
        )

    def square_root(self, of: str) -> str:
        """Write a square root with what the file imports."""
        for module in ("math", "np"):
            if module in self.code.imported:
                return f"{module}.sqrt({of})"
        return f"({of}) ** 0.5" if is_loose(of) else f"{of} ** 0.5"

    def root(self, node: ast.AST) -> str:
        """Return the array that an expression is made of: K for ``K[b].T`` and ``f(K, 0)``."""
        for inner in walk(node):
            if isinstance(inner, ast.Name) and not self.is_module(inner):
                parent = self.code.parent(inner)
                if not (isinstance(parent, ast.Call) and parent.func is inner):
                    return inner.id
        return ""

    def is_module(self, node: ast.AST) -> bool:
        """Tell whether an expression is a module, e.g. ``np`` or ``nn.functional``."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.code.modules

    def receiver(self, call: ast.Call) -> ast.expr | None:
        """Return x of ``x.f(...)``, unless that is a module or ``self``."""
        if not isinstance(call.func, ast.Attribute) or self.is_module(call.func.value):
            return None
        return None if is_self(call) else call.func.value

    def given(self, call: ast.Call) -> list[ast.expr]:
        """Return what a call works on: the receiver, if there is one, and the arguments."""
        receiver = self.receiver(call)
        return [*([receiver] if receiver is not None else []), *call.args]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes in the order they are written, f-strings excluded: their places are unsure."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            yield from walk(child)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope's body; those of a file are not its functions and classes."""
    top = isinstance(scope, ast.Module)
    for statement in getattr(scope, "body", []):
        definition = isinstance(statement, (*Function.__args__, ast.ClassDef, ast.If))
        if not (top and definition):
            yield from walk(statement)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _parameters(node: ast.AST) -> list[str]:
    if not isinstance(node, Function):
        return []
    of = node.args
    return [argument.arg for argument in (*of.posonlyargs, *of.args, *of.kwonlyargs)]


def _named(node: ast.AST) -> set[str]:
    return {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}


def names(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return _named(node)


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
