"""Who may see what: polarity, the fill, and the mask's place before the softmax."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .reading import Change, Code, Edit, called, names, quoted, targets, walk
from .scopes import Scope

MASKINGS = ("where", "masked_fill", "masked_fill_")
FILL = "-1e9"


def polarity(scope: Scope) -> Iterator[Edit]:
    """Blocked and allowed change places."""
    code = scope.code
    for call in scope.calls:
        if called(call) == "where" and len(call.args) == 3:
            _, one, other = call.args
            changes = (code.change(one, code.text(other)), code.change(other, code.text(one)))
            yield Edit(f"both branches of {quoted(code.text(call))} change places", changes)
        elif called(call) in ("masked_fill", "masked_fill_") and call.args:
            yield from _opposite(code, call.args[0])
    for statement in scope.statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            where = statement.targets[0].slice  # scores[~mask] = -1e9
            if names(where) & {*scope.masks} and not isinstance(where, ast.Tuple):
                inverted = isinstance(where, ast.UnaryOp)
                inner = where.operand if isinstance(where, ast.UnaryOp) else where
                yield code.swap(where, code.text(inner) if inverted else f"~{code.text(inner)}")
        if isinstance(statement, ast.Return) and "mask" in scope.name.lower() and statement.value:
            text = code.text(statement.value)
            for new in (f"~({text})", f"({text}) == 0"):
                yield code.swap(statement.value, new)


def _opposite(code: Code, condition: ast.expr) -> Iterator[Edit]:
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, (ast.Invert, ast.Not)):
        yield code.swap(condition, code.text(condition.operand))
    yield code.swap(condition, f"({code.text(condition)}) == 0")
    for inner in walk(condition):
        if inner is condition or not isinstance(inner, ast.UnaryOp):
            continue
        if isinstance(inner.op, ast.Invert):
            yield code.swap(condition, f"{code.text(inner.operand)} == 0")


def fill(scope: Scope) -> Iterator[Edit]:
    """The value of blocked scores: finite, and so low that nothing is left of it."""
    for call in scope.calls:
        if called(call) in MASKINGS and call.args:
            yield from _other_fills(scope, call)
    yield from _finite_constants(scope)


def _other_fills(scope: Scope, call: ast.Call) -> Iterator[Edit]:
    """Every value by which one call masks becomes every other that blocks."""
    scores = scope.root(scope.given(call)[0])
    if called(call) == "where":
        scores = _other(scope, call)
    values = [a for a in call.args[-2:] if _is_number(scope, a)]
    for made in call.args:  # torch.full_like(scores, -1e9)
        if isinstance(made, ast.Call) and called(made) in ("full_like", "full", "tensor"):
            values += [a for a in made.args if _is_number(scope, a)]
    for value in values:
        for new in _fills(scope, scores):
            if new != scope.code.text(value):
                yield scope.code.swap(value, new)


def _finite_constants(scope: Scope) -> Iterator[Edit]:
    """Infinities outside of where and masked_fill become finite, as do constants of the file."""
    code = scope.code
    for node in scope.nodes:
        infinite = isinstance(node, ast.expr) and _is_infinite(code.text(node))
        if infinite and isinstance(node, (ast.UnaryOp, ast.Call)):
            yield code.swap(node, FILL)
    if not scope.name:
        for statement in scope.statements:
            if isinstance(statement, ast.Assign) and _is_number(scope, statement.value):
                yield code.swap(statement.value, FILL)


def _other(scope: Scope, call: ast.Call) -> str:
    return next((scope.root(a) for a in call.args[1:] if scope.root(a)), scope.scores)


def _fills(scope: Scope, of: str) -> list[str]:
    lowest = f"{'torch' if scope.torch else 'np'}.finfo({of}.dtype).min"
    return [lowest, FILL, "0.0"] if scope.torch else [FILL, lowest, "0.0"]


def _is_number(scope: Scope, node: ast.AST) -> bool:
    """Tell whether an expression is a number, or the limit of a dtype."""
    if _is_infinite(scope.code.text(node)) or "finfo" in scope.code.text(node):
        return True
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(inner, ast.Name):
        constant = inner.id.isupper() and len(inner.id) > 2
        return constant or inner.id in ("e", "eps", "fill")
    return isinstance(inner, ast.Constant) and type(inner.value) in (int, float)


def _is_infinite(text: str) -> bool:
    bare = text.replace(" ", "").replace('"', "'").lstrip("-")
    return bare in ("np.inf", "math.inf", "torch.inf", "float('inf')", "float('-inf')", "inf")


def masked(scope: Scope) -> Iterator[Edit]:
    """Where scores and mask meet, the blocked scores are filled; a floating mask is added."""
    for statement in scope.statements:
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not scope.masks:
            continue
        yield from _filled(scope, statement)
        used = [m for m in scope.masks if m in names(statement.value)]
        target = (targets(statement) or [""])[0]
        if not used or target in scope.masks or len(targets(statement)) != 1:
            continue
        of = _masked_name(scope, statement)
        if not of:
            continue
        for mask in dict.fromkeys([_mask_text(scope, statement, used), scope.masks[0]]):
            for new in _maskings(scope, of, mask):
                yield from _assigned(scope, statement, target, new)


def _filled(scope: Scope, statement: ast.Assign | ast.AugAssign) -> Iterator[Edit]:
    """An assignment to masked items, ``scores[~mask] = -1e9``, becomes one to the whole."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    whole = target.value if isinstance(target, ast.Subscript) else None
    if not isinstance(target, ast.Subscript) or not isinstance(whole, ast.Name):
        return
    for new in _maskings(scope, whole.id, scope.masks[0]):
        if names(target.slice) & {*scope.masks}:
            made = f"{whole.id} = {new}"
            what = f"{quoted(scope.code.text(statement))} becomes {quoted(made)}"
            yield Edit(what, (Change(*scope.code.span(statement), made),))


def _assigned(
    scope: Scope, statement: ast.Assign | ast.AugAssign, target: str, new: str
) -> Iterator[Edit]:
    if isinstance(statement, ast.Assign):
        yield scope.code.swap(statement.value, new)
    else:
        start, end = scope.code.span(statement)
        made = f"{target} = {new}"
        was = quoted(scope.code.text(statement))
        yield Edit(f"{was} becomes {quoted(made)}", (Change(start, end, made),))


def _masked_name(scope: Scope, statement: ast.Assign | ast.AugAssign) -> str:
    """Return what is masked in a statement: its target as a rule."""
    written = targets(statement)[0]
    if isinstance(statement, ast.AugAssign):
        return written
    values = [n.id for n in walk(statement.value) if isinstance(n, ast.Name)]
    if written in values:
        return written
    known = [n for n in values if n in (scope.scores, scope.weights)]
    return known[0] if known else ""


def _mask_text(scope: Scope, statement: ast.AST, used: list[str]) -> str:
    """Return the mask as it is used, e.g. ``mask[b, i]``."""
    for node in walk(statement):
        compared = isinstance(node, ast.Name) and _is_compared(scope, node)
        if isinstance(node, ast.Name) and node.id in used and not compared:
            above = scope.code.parent(node)
            if isinstance(above, ast.Subscript) and above.value is node:
                return scope.code.text(above)
            return node.id
    return used[0]


def _is_compared(scope: Scope, node: ast.Name) -> bool:
    """Tell whether a name is only asked whether it is None."""
    above = scope.code.parent(node)
    return isinstance(above, ast.Compare) and isinstance(above.ops[0], (ast.Is, ast.IsNot))


def _maskings(scope: Scope, of: str, mask: str) -> list[str]:
    if not scope.torch:
        return [f"np.where({mask}, {of}, {FILL})", f"np.where({mask}, {FILL}, {of})"]
    filled = f"{of}.masked_fill({mask} == 0, torch.finfo({of}.dtype).min)"
    added = f"{of} + {mask}.to({of}.dtype)"
    blocked = f"{of}.masked_fill({mask}, torch.finfo({of}.dtype).min)"
    return [f"{added} if {mask}.is_floating_point() else {filled}", filled, blocked]


def kept(scope: Scope) -> Iterator[Edit]:
    """The masked scores are kept, under the name that is used afterwards."""
    code = scope.code
    for statement in scope.statements:
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.Call) or called(value) not in MASKINGS:
            continue
        call, receiver = value, scope.receiver(value)
        of = scope.root(receiver) if receiver is not None else _other(scope, call)
        start, _ = code.span(statement)
        if isinstance(statement, ast.Expr) and of:
            change = Change(start, start, f"{of} = ")
            yield Edit(f"what {quoted(code.text(call))} gives is kept", (change,))
        elif isinstance(statement, ast.Assign) and of and targets(statement)[:1] != [of]:
            target = statement.targets[0]
            yield code.swap(target, of)


def before_softmax(scope: Scope) -> Iterator[Edit]:
    """The mask is applied to the scores, before the softmax."""
    code = scope.code
    for softmax in scope.softmaxes:
        given = scope.given(softmax)
        statement = code.statement(softmax)
        if not given or not scope.masks:
            continue
        of = scope.root(given[0])
        simple = isinstance(given[0], ast.Name)
        if not of or not simple:
            continue
        later = [s for s in scope.statements if s.lineno > statement.lineno]
        unmasking = [s for s in later if _is_masking(scope, s, targets(statement))]
        for new in _maskings(scope, of, scope.masks[0]):
            block = [f"if {scope.masks[0]} is not None:", f"    {of} = {new}"]
            inserted = code.before(statement, block)
            if inserted is None:
                continue
            removed = [change for s in unmasking[:1] if (change := code.lines(s)) is not None]
            what = "the mask comes before the softmax"
            if removed:
                yield Edit(what, (inserted, *removed))
            yield Edit(what, (inserted,))
        yield from _moved(scope, statement, unmasking, of)
    yield from _with_scores(scope)


def _with_scores(scope: Scope) -> Iterator[Edit]:
    """The mask is applied to the scores as soon as there are some."""
    code, of = scope.code, scope.scores
    if not of or not scope.masks:
        return
    made = code.statement(scope.products[0])
    lines = code.lines(made)
    later = [s for s in scope.statements if s.lineno > made.lineno]
    masking = [s for s in later if _is_masking(scope, s, [n for s in later for n in targets(s)])]
    used = [m for m in scope.masks if masking and m in names(masking[-1])]
    mask = _mask_text(scope, masking[-1], used) if used else scope.masks[0]
    for new in _maskings(scope, of, mask):
        if lines is not None:
            indent = code.indent(made)
            block = f"{indent}if {scope.masks[0]} is not None:\n{indent}    {of} = {new}\n"
            yield Edit("the scores are masked", (Change(lines.end, lines.end, block),))


def _is_masking(scope: Scope, statement: ast.stmt, weights: list[str]) -> bool:
    """Tell whether a statement masks the weights: as it is, or as an if with such a body."""
    if isinstance(statement, ast.If):
        only = len(statement.body) == 1 and not statement.orelse
        return only and _is_masking(scope, statement.body[0], weights)
    masks = isinstance(statement, ast.Assign) and names(statement.value) & {*scope.masks}
    return bool(masks and {*targets(statement)} & {*weights})


def _moved(scope: Scope, softmax: ast.stmt, masking: list[ast.stmt], scores: str) -> Iterator[Edit]:
    """The very statement that masks the weights masks the scores instead."""
    code = scope.code
    for statement in masking[:1]:
        removed = code.lines(statement)
        if removed is None:
            continue
        old = (targets(softmax) or [""])[0]
        text = code.text(statement)
        lines = [line.removeprefix(code.indent(statement)) for line in text.split("\n")]
        inserted = code.before(softmax, _with_name(lines, old, scores))
        if inserted is not None and old:
            yield Edit(f"{quoted(text)} comes before the softmax", (inserted, removed))


def _with_name(lines: list[str], old: str, new: str) -> list[str]:
    text = "\n".join(lines)
    tree = ast.parse(text)
    data, starts = text.encode(), [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = [n for n in walk(tree) if isinstance(n, ast.Name) and n.id == old]
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        at = starts[node.lineno - 1] + node.col_offset
        data = data[:at] + new.encode() + data[at + len(old.encode()) :]
    return data.decode().split("\n")


def causal(scope: Scope) -> Iterator[Edit]:
    """No query sees a key behind its own place, the last query being at the last key."""
    code = scope.code
    for softmax in scope.softmaxes:
        given = scope.given(softmax)
        if not given or not isinstance(given[0], ast.Name):
            continue
        of = given[0].id
        line = f"{of} = {_causal(scope, of)}"
        asked = _asked_for(scope)
        lines = [f"if {asked}:", f"    {line}"] if asked else [line]
        inserted = code.before(code.statement(softmax), lines)
        for node in scope.nodes:
            triangles = {called(inner) for inner in walk(node)} & {"tril", "triu", "tri"}
            if isinstance(node, ast.If) and triangles and "None" not in code.text(node.test):
                what = f"{quoted(code.text(node))} becomes {quoted(line)}"
                yield Edit(what, (Change(*code.span(node), line),))
        if inserted is not None:
            yield Edit(f"{quoted(line)} comes before the softmax", (inserted,))


def _asked_for(scope: Scope) -> str:
    """Return what says whether the mask is causal, if something does."""
    around = walk(scope.code.parent(scope.node) or scope.node)
    kept = {node.attr for node in around if isinstance(node, ast.Attribute)}
    for word in ("causal", "is_causal"):
        if word in scope.parameters:
            return word
        if word in kept:
            return f"self.{word}"
    return ""


def _causal(scope: Scope, of: str) -> str:
    ahead = f"{of}.shape[-1] - {of}.shape[-2]"
    if not scope.torch:
        return f"np.where(np.tril(np.ones({of}.shape[-2:], dtype=bool), {ahead}), {of}, {FILL})"
    later = f"torch.ones({of}.shape[-2:], dtype=torch.bool).triu({ahead} + 1)"
    return f"{of}.masked_fill({later}, torch.finfo({of}.dtype).min)"


def broadcast(scope: Scope) -> Iterator[Edit]:
    """The mask gets the shape of the scores."""
    if not scope.masks or len(scope.arrays) < 2 or not isinstance(scope.node, ast.FunctionDef):
        return
    body = scope.node.body
    first = next((s for s in body if not _is_docstring(s)), None)
    mask, (q, k) = scope.masks[0], scope.arrays[:2]
    if first is None or mask not in scope.parameters:
        return
    module, keys = ("torch", -2) if scope.torch else ("np", -2)
    new = f"{mask} = {module}.broadcast_to({mask}, (*{q}.shape[:-1], {k}.shape[{keys}]))"
    inserted = scope.code.before(first, [f"if {mask} is not None:", f"    {new}"])
    if inserted is not None:
        yield Edit("the mask gets the shape of the scores", (inserted,))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
