"""Along which axis something runs, and in which order the axes lie."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator

from .reading import Change, Edit, called, is_product, is_self, operands, quoted
from .scopes import Scope

#: Functions that run along an axis; with keepdims as far as ``mean``.
KEEPING = ("sum", "max", "amax", "min", "amin", "mean", "logsumexp")
ALONG = (*KEEPING, "argmax", "norm", "normalize", "concatenate", "concat", "cat", "stack", "cumsum")
LISTS = ("concatenate", "concat", "cat", "stack")
EXTREMES = {"min": "max", "amin": "amax", "minimum": "maximum", "argmin": "argmax"}
TRANSPOSES = ("transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim")
RESHAPES = ("reshape", "view", "view_as", "as_strided")
#: The usual ones first: split and merge heads, transposed keys.
ORDERS = ((0, 2, 1, 3), (0, 1, 3, 2), (0, 2, 1))


def axis(scope: Scope) -> Iterator[Edit]:
    """The axis of a sum, maximum or softmax, also where none is given."""
    code = scope.code
    own = next((p for p in scope.parameters if p in ("axis", "dim")), None)
    wanted = [*([own] if own else []), "-1", "-2", "1", "0", "2"]
    found: list[tuple[int, Edit]] = []
    for call in scope.calls:
        if called(call) not in ALONG and "softmax" not in called(call).lower():
            continue
        if (at := _axis_of(scope, call)) is not None:
            others = [new for new in wanted if new != code.text(at)]
            found += [(place, code.swap(at, new)) for place, new in enumerate(others)]
        elif called(call) not in LISTS:
            found.append((0, _with_axis(scope, call, own or "-1")))
    yield from (edit for _, edit in sorted(found, key=lambda one: one[0]))


def _axis_of(scope: Scope, call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg in ("axis", "dim"):
            return keyword.value
    made = called(call)[:1].isupper() or (is_self(call) and called(call) not in ALONG)
    place = 0 if made or scope.receiver(call) is not None else 1
    if made and not called(call)[:1].isupper():
        return None
    return call.args[place] if len(call.args) > place else None


def _with_axis(scope: Scope, call: ast.Call, axis: str) -> Edit:
    code, name = scope.code, called(call)
    keeps = name in KEEPING
    words = ("dim", "keepdim") if scope.torch else ("axis", "keepdims")
    new = f"{words[0]}={axis}" + (f", {words[1]}=True" if keeps else "")
    changes = [code.argument(call, new)]
    if scope.torch and name in ("max", "min"):  # with a dim they return indices, too
        changes.append(_renamed(scope, call, f"a{name}"))
    return Edit(f"{quoted(code.text(call))} gets `{new}`", tuple(sorted(changes)))


def _renamed(scope: Scope, call: ast.Call, name: str) -> Change:
    _, end = scope.code.span(call.func)
    return Change(end - len(called(call).encode()), end, name)


def keepdims(scope: Scope) -> Iterator[Edit]:
    """The reduced axis stays, with length one."""
    word = "keepdim" if scope.torch else "keepdims"
    for call in scope.calls:
        given = {keyword.arg for keyword in call.keywords}
        reduces = called(call) in KEEPING and _axis_of(scope, call) is not None
        if reduces and not given & {"keepdims", "keepdim"}:
            change = scope.code.argument(call, f"{word}=True")
            yield Edit(f"{quoted(scope.code.text(call))} gets `{word}=True`", (change,))


def extreme(scope: Scope) -> Iterator[Edit]:
    """The maximum where the minimum is taken."""
    for call in scope.calls:
        if (name := EXTREMES.get(called(call))) is not None:
            description = f"{quoted(called(call))} becomes `{name}`"
            yield Edit(description, (_renamed(scope, call, name),))


def order(scope: Scope) -> Iterator[Edit]:
    """The order of the axes: another one, or a transposition that was left out."""
    code = scope.code
    for call in scope.calls:
        if called(call) in TRANSPOSES:
            yield from _other_orders(scope, call)
    for call in scope.calls:
        if called(call) in RESHAPES:
            yield from _transposed(scope, call)
    for statement in scope.statements:
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.expr):
            value = statement.value
            if not isinstance(value, ast.Tuple):
                start, end = code.span(value)
                new = code.text(value)
                changed = Change(start, end, f"({new}).T")
                yield Edit(f"{quoted(new)} is transposed", (changed,))


def _other_orders(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    code = scope.code
    axes = [a for a in call.args if _is_axis(a)]
    numbers = tuple(ast.literal_eval(a) for a in axes)
    others: list[tuple[int, ...]]
    if len(numbers) == 2:
        others = [pair for pair in ((-2, -1), (1, 2), (0, 1)) if set(pair) != set(numbers)]
    elif len(numbers) in (3, 4):
        possible = itertools.permutations(range(len(numbers)))
        usual = [o for o in ORDERS if len(o) == len(numbers)]
        # No order at all is what leaving the call out tries.
        others = [
            o for o in dict.fromkeys((*usual, *possible)) if o not in (numbers, tuple(sorted(o)))
        ]
    else:
        return
    start, _ = code.span(axes[0])
    _, end = code.span(axes[-1])
    for other in others:
        new = ", ".join(map(str, other))
        was = code.data[start:end].decode()
        yield Edit(f"the axes `{was}` become `{new}`", (Change(start, end, new),))


def _is_axis(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _transposed(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    """A transposition before or after a reshape, or instead of one."""
    code, receiver = scope.code, scope.receiver(call)
    on = receiver if receiver is not None else (call.args[0] if call.args else None)
    if on is None:
        return
    swapped = ".transpose(-2, -1)" if scope.torch else ".swapaxes(-2, -1)"
    used = code.parent(call)
    in_product = used is not None and is_product(used)
    given = any(
        code.statement(call) is code.statement(other) or scope.root(other) in _given_to(scope, call)
        for product in scope.products
        for other in operands(product)[1:]
    )
    if in_product or given:
        yield code.swap(call, f"{code.text(on)}{swapped}")
    four = ".permute(0, 2, 1, 3)" if scope.torch else ".transpose(0, 2, 1, 3)"
    if receiver is not None and called(call) != "as_strided":
        yield code.swap(on, f"{code.text(on)}{four}")
        yield code.swap(call, f"{code.text(call)}{four}")
        if scope.torch and called(call) == "view":
            _, end = code.span(call.func)
            view = (Change(end - len("view"), end, "reshape"),)
            yield Edit(f"`view` becomes `reshape` in {quoted(code.text(call))}", view)


def _given_to(scope: Scope, node: ast.AST) -> list[str]:
    statement = scope.code.statement(node)
    if isinstance(statement, ast.Assign):
        return [t.id for t in statement.targets if isinstance(t, ast.Name)]
    return []


def shape(scope: Scope) -> Iterator[Edit]:
    """The sizes of a reshape: exchanged, and with the transposition that makes heads of them."""
    code = scope.code
    four = ".permute(0, 2, 1, 3)" if scope.torch else ".transpose(0, 2, 1, 3)"
    for call in scope.calls:
        receiver = scope.receiver(call)
        if called(call) not in ("reshape", "view") or receiver is None or len(call.args) != 4:
            continue
        whole, already = _with_transposition(scope, call)
        sizes = [code.text(a) for a in call.args]
        if already:
            own = ", ".join((sizes[1], sizes[0], *sizes[2:]))
            edit = code.swap(whole, f"{code.text(receiver)}.{called(call)}({own})")
            yield dataclasses.replace(edit, alike="the first two sizes")
        for i, j in ((1, 2), (2, 3), (1, 3)):
            other = sizes.copy()
            other[i], other[j] = other[j], other[i]
            new = f"{code.text(receiver)}.{called(call)}({', '.join(other)})"
            yield code.swap(whole, new + four)
            if already or (i, j) != (1, 2):
                yield code.swap(call, new)


def heads(scope: Scope) -> Iterator[Edit]:
    """Heads are split and merged with a transposition, both where both go without."""
    code = scope.code
    four = ".permute(0, 2, 1, 3)" if scope.torch else ".transpose(0, 2, 1, 3)"
    last = scope.products[-1].lineno if scope.products else 0
    split, merged = [], []
    for call in scope.calls:
        receiver = scope.receiver(call)
        if called(call) not in ("reshape", "view") or receiver is None:
            continue
        if len(call.args) == 4 and call.lineno < last and not _with_transposition(scope, call)[1]:
            b, h, t, d = map(code.text, call.args)
            split.append(
                code.change(call, f"{code.text(receiver)}.reshape({b}, {t}, {h}, {d}){four}")
            )
        elif len(call.args) in (2, 3) and call.lineno >= last and isinstance(receiver, ast.Name):
            merged.append(code.change(call.func, f"{receiver.id}{four}.reshape"))
    if split and merged:
        yield Edit("heads are split and merged by transposing", tuple(sorted((*split, *merged))))


def _with_transposition(scope: Scope, call: ast.Call) -> tuple[ast.AST, bool]:
    """Return ``call.transpose(...)`` if that is how the call goes on."""
    attribute = scope.code.parent(call)
    outer = None if attribute is None else scope.code.parent(attribute)
    if isinstance(outer, ast.Call) and called(outer) in TRANSPOSES and outer.func is attribute:
        return outer, True
    return call, False


def subscripts(scope: Scope) -> Iterator[Edit]:
    """The letters of an einsum: those that stand alone first, which sum over an axis."""
    code = scope.code
    for call in scope.calls:
        first = call.args[0] if call.args else None
        if called(call) != "einsum" or not isinstance(first, ast.Constant):
            continue
        text = str(first.value)
        alone = [n for n, c in enumerate(text) if c.isalpha() and text.count(c) == 1]
        letters = sorted({c for c in text if c.isalpha()})
        start = code.span(first)[0]
        prefix = code.text(first).find(text)
        for place in alone:
            for letter in letters:
                if letter != text[place] and prefix > 0:
                    new = text[:place] + letter + text[place + 1 :]
                    at = start + prefix + place
                    change = Change(at, at + 1, letter)
                    yield Edit(f"{quoted(text)} becomes {quoted(new)}", (change,))
