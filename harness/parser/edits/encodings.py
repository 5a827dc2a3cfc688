"""Positional encodings: base, exponent, positions, and where sines and cosines go."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, called, quoted
from .scopes import Scope

BASE = 10000.0


def waves(scope: Scope) -> Iterator[Edit]:
    """A sine where there is a cosine, and the other way round."""
    for call in scope.calls:
        if (name := called(call)) in ("sin", "cos"):
            other = "cos" if name == "sin" else "sin"
            _, end = scope.code.span(call.func)
            yield Edit(f"`{name}` becomes `{other}`", (Change(end - 3, end, other),))


def _is_encoding(scope: Scope) -> bool:
    return any(called(call) in ("sin", "cos") for call in scope.calls)


def number(scope: Scope) -> Iterator[Edit]:
    """The base 10000, and a factor of two in the exponent."""
    code = scope.code
    if not _is_encoding(scope):
        return
    for node in scope.nodes:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, (int, float)) and value >= 100 and value != BASE:
            yield code.swap(node, "10000")
    for node in scope.binaries:
        if isinstance(node.op, ast.Div) and isinstance(node.left, ast.Name):
            yield code.swap(node.left, f"2 * {node.left.id}")
    for node in scope.binaries:  # one exponent for a sine and its cosine
        if isinstance(node.op, ast.Div) and called(node.left) == "arange":
            yield code.swap(node.left, f"{code.text(node.left)} // 2 * 2")


def start(scope: Scope) -> Iterator[Edit]:
    """Positions begin at zero, steps are one or two."""
    code = scope.code
    for call in scope.calls:
        if called(call) not in ("arange", "range") or not call.args:
            continue
        begin, end = code.span(call.args[0])[0], code.span(call.args[-1])[1]
        texts = [code.text(argument) for argument in call.args]
        for new in _ranges(texts):
            if new != texts:
                was, made = ", ".join(texts), ", ".join(new)
                yield Edit(f"the range `{was}` becomes `{made}`", (Change(begin, end, made),))


def _ranges(texts: list[str]) -> Iterator[list[str]]:
    last = texts[1] if len(texts) > 1 else texts[0]
    if len(texts) == 2:
        yield [last.removesuffix("+ 1").removesuffix("- 1").strip()]
    if len(texts) == 3:
        yield [f"{last} // 2"]
    elif "// 2" in last:
        yield ["0", last.replace("// 2", "").strip(), "2"]
    if len(texts) == 1:
        yield ["1", f"{last} + 1"]


def alternating(scope: Scope) -> Iterator[Edit]:
    """Two halves side by side become pairs in turn, and the other way round."""
    code = scope.code
    for call in scope.calls:
        given = scope.given(call)
        if called(call) in ("concatenate", "cat", "concat") and given:
            parts = given[0].elts if isinstance(given[0], (ast.List, ast.Tuple)) else []
            if len(parts) != 2:
                continue
            one, other = map(code.text, parts)
            words = "dim" if scope.torch else "axis"
            if one == other:
                repeat = f"{one}.repeat_interleave(2, dim=-1)"
                yield code.swap(call, repeat if scope.torch else f"np.repeat({one}, 2, axis=-1)")
            stacked = f"{'torch' if scope.torch else 'np'}.stack([{one}, {other}], {words}=-1)"
            if scope.parameters:
                first, *more = (p for p in scope.parameters if p != "self")
                yield code.swap(call, f"{stacked}.reshape({first}.shape)")
                if more:
                    yield code.swap(call, f"{stacked}.reshape({first}, {more[0]})")
        elif called(call) in ("repeat", "repeat_interleave") and given:
            one = code.text(given[0])
            joined = f"torch.cat([{one}, {one}], dim=-1)"
            if not scope.torch:
                joined = f"np.concatenate([{one}, {one}], axis=-1)"
            yield code.swap(call, joined)


def halves(scope: Scope) -> Iterator[Edit]:
    """Sines in the first half and cosines in the second, or in turn."""
    code = scope.code
    if not _is_encoding(scope):
        return
    width = "d"
    for node in scope.nodes:  # range(d // 2) says what the width is called
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            width = code.text(node.left)
    half = f"{width} // 2"
    pairs = (
        {"2 * i": "i", "2 * i + 1": f"{half} + i"},
        {"i": "2 * i", f"{half} + i": "2 * i + 1", f"i + {half}": "2 * i + 1"},
        {"0::2": f":{half}", "::2": f":{half}", "1::2": f"{half}:"},
        {f":{half}": "0::2", f"{half}:": "1::2"},
    )
    for pair in pairs:
        changes = []
        for node in scope.nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
                last = node.slice.elts[-1]
                written = code.text(last).replace(f": {half}", f":{half}")
                written = written.replace(f"{half} :", f"{half}:")
                if isinstance(node.ctx, ast.Store) and written in pair:
                    changes.append(Change(*code.span(last), pair[written]))
        if len(changes) > 1:
            was = quoted(", ".join(sorted({*pair})))
            yield Edit(f"sines and cosines go elsewhere than {was}", tuple(sorted(changes)))
