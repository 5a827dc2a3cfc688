"""Wrong and right code beside each other: the parts that a flaw replaces, as they are written."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from harness.spec import Flaw, Spec

#: An example of more lines explains nothing at a glance.
LINES: Final = 16


class Example(NamedTuple):
    """One part of an answer, as a mistake has it and as it should be."""

    wrong: str
    right: str


def example_of(flaw: Flaw, spec: Spec) -> Example | None:
    """Return the first part of a flaw that can be shown beside the right one, if any."""
    for name, part in flaw.parts.items():
        if name in spec.reference:
            wrong, right = source_of(part, name), source_of(spec.reference[name], name)
            if wrong and right and wrong != right:
                return Example(wrong, right)
    return None


def example_for(check: str, spec: Spec) -> Example | None:
    """Return the shortest example of a mistake that a check catches, the likeliest first."""
    flaws = [flaw for flaw in spec.flaws if check in flaw.caught_by]
    found = [(len(flaw.caught_by), example_of(flaw, spec)) for flaw in flaws]
    shown = [(count, example) for count, example in found if example is not None]
    return min(shown, key=lambda one: (one[0], sum(map(len, one[1]))))[1] if shown else None


def source_of(function: Callable[..., Any], name: str) -> str:
    """Return a function as it is written, a lambda under the part's name; "" if it is too long."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):  # a partial, or a callable object
        return ""
    if function.__name__ != "<lambda>":
        text = textwrap.dedent("".join(lines)).strip()
    else:
        text = next(_lambdas(function, first), "")
        text = f"{name} = {textwrap.dedent(text)}" if text else ""
    return text if text.count("\n") < LINES else ""


def _lambdas(function: Callable[..., Any], first: int) -> Iterator[str]:
    """Yield the source of the lambda that begins in a line, if it is the only one there."""
    module = inspect.getmodule(function)
    if module is None or module.__file__ is None:
        return
    text = inspect.getsource(module)
    there = [node for node in _nodes(text) if node.lineno == first]
    if len(there) == 1 and (segment := ast.get_source_segment(text, there[0])):
        yield segment


@functools.lru_cache(maxsize=64)
def _nodes(text: str) -> tuple[ast.Lambda, ...]:
    return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda))
