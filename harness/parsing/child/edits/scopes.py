"""A function of a candidate's, and what its names stand for: Q, the scores, the mask."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Final

from .reading import (
    Code,
    Function,
    called,
    is_loose,
    is_product,
    is_self,
    names,
    operands,
    targets,
    walk,
)

#: Names of parameters that are no arrays.
_SETTINGS: Final = ("self", "axis", "dim", "p", "training", "train", "scale", "causal")


class Scope:
    """A function, or the top level of the file, and what its names stand for."""

    def __init__(self, code: Code, node: Function | ast.Module, torch: bool) -> None:
        self.code = code
        self.node = node
        self.torch = torch
        self.module = "torch" if torch else "np"
        self.name = node.name if isinstance(node, Function) else ""
        self.is_constructor = self.name == "__init__"
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
        pairs = [pair for product in self.products if (pair := operands(product))]
        if len(self.projected) == 3:
            return self.projected
        if len(pairs) < 2:
            return given
        return [self.root(pairs[0][0]), self.root(pairs[0][1]), self.root(pairs[-1][1])]

    @functools.cached_property
    def projected(self) -> list[str]:
        """The first three names that are given what layers make."""
        made = [
            name
            for statement in self.statements
            if any(is_self(node) for node in walk(statement) if isinstance(node, ast.Call))
            for name in targets(statement)
        ]
        return list(dict.fromkeys(made))[:3]

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
            if isinstance(statement, ast.Assign) and names(statement.value) & {*found}:
                made = [n for n in targets(statement) if n not in found]
                found += [n for n in made if n not in (self.scores, self.weights)]
        local = [n for s in self.statements if self.products for n in targets(s) if "mask" in n]
        return list(dict.fromkeys((*found, *local)))

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


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope's body; those of a file are not its functions and classes."""
    top = isinstance(scope, ast.Module)
    for statement in getattr(scope, "body", []):
        definition = isinstance(statement, (*Function.__args__, ast.ClassDef, ast.If))
        if not (top and definition):
            yield from _outside_guards(statement)


def _outside_guards(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes as ``walk`` does, but nothing of what asserts, or tests before a raise, say."""
    yield node
    refuses = isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)
    tested = getattr(node, "test", None) if refuses else None
    for child in ast.iter_child_nodes(node):
        said = isinstance(node, (ast.Assert, ast.Raise)) or child is tested
        if not said and not isinstance(child, ast.JoinedStr):
            yield from _outside_guards(child)


def _parameters(node: ast.AST) -> list[str]:
    if not isinstance(node, Function):
        return []
    of = node.args
    return [argument.arg for argument in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
