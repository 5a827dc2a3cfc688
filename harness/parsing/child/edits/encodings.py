"""Positional encodings: base, exponent, positions, and where sines and cosines go."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Edit, Function, called, names, quoted, targets
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


def angle(scope: Scope) -> Iterator[Edit]:
    """A sine and its cosine are of the same angle."""
    code = scope.code
    sines, cosines = (_given(scope, name) for name in ("sin", "cos"))
    for sine, cosine in zip(sines, cosines, strict=False):
        for one in (sine, cosine):
            written = code.text(one)
            for new in dict.fromkeys((written, written.replace("2 * ", "", 1))):
                changes = (code.change(sine, new), code.change(cosine, new))
                what = f"the sine and the cosine are of {quoted(new)}"
                yield Edit(what, tuple(sorted(changes)))


def _given(scope: Scope, name: str) -> list[ast.expr]:
    return [call.args[0] for call in scope.calls if called(call) == name and call.args]


def phase(scope: Scope) -> Iterator[Edit]:
    """Where there are sines only, every second column is a cosine."""
    code, module = scope.code, scope.module
    waves = {called(call) for call in scope.calls} & {"sin", "cos"}
    if len(scope.parameters) < 2 or len(waves) != 1:
        return
    odd = f"{module}.arange({scope.parameters[1]}) % 2 == 1"
    for call in scope.calls:
        if called(call) in waves and call.args:
            of = code.text(call.args[0])
            sine, cosine = (f"{module}.{wave}({of})" for wave in ("sin", "cos"))
            yield code.swap(call, f"{module}.where({odd}, {cosine}, {sine})")


def turned(scope: Scope) -> Iterator[Edit]:
    """What the sines of a rotation are multiplied with is turned, in pairs or in halves."""
    code, module = scope.code, scope.module
    along = "dim=-1" if scope.torch else "axis=-1"
    for node in scope.binaries:
        if not isinstance(node.op, ast.Mult):
            continue
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if called(other) == "sin" and isinstance(one, ast.Name):
                x = one.id
                pairs = f"[-{x}[..., 1::2], {x}[..., 0::2]]"
                yield code.swap(one, f"{module}.stack({pairs}, {along}).reshape({x}.shape)")
                half = f"{x}.shape[-1] // 2"
                halves = f"[-{x}[..., {half}:], {x}[..., :{half}]]"
                joined = "cat" if scope.torch else "concatenate"
                yield code.swap(one, f"{module}.{joined}({halves}, {along})")


def slopes(scope: Scope) -> Iterator[Edit]:
    """The slopes of ALiBi: a geometric sequence, one for each head."""
    code, module = scope.code, scope.module
    if not isinstance(scope.node, Function) or not scope.parameters:
        return
    heads = scope.parameters[0]
    own = f"2.0 ** (-8 * {module}.arange(1, {heads} + 1) / {heads})"
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        named = [name for name in targets(statement) if "slope" in name.lower()]
        returned = isinstance(statement, ast.Return) and "slope" in scope.name.lower()
        if value is None or not (named or returned):
            continue
        yield code.swap(value, own)
        column = code.change(value, f"({own})[:, None, None]")
        repeats = [
            code.change(call, code.text(scope.given(call)[0]))
            for call in scope.calls
            if called(call) in ("tile", "repeat", "broadcast_to", "expand")
            and scope.given(call)
            and {*named} & names(call)
        ]
        what = f"every head has a slope of its own, `{own}`"
        yield Edit(what, tuple(sorted((column, *repeats))))
