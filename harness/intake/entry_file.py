"""Which of several files holds the answer.

Tests, ``setup.py``, ``conftest.py`` and the like are carried along, so that imports of them work,
but are never the entry. Of the rest, the first rule that leaves one file decides:

1. it is the only one;
2. it has the most of what the brief asks for, by the brief's names or else by names that others
   give it; of two that have as much, the one that defines more of it and imports less;
3. it is named ``submission``, ``solution``, ``attention`` or ``main``, in this order; of two of the
   same name the one nearer to the top;
4. it is the only one that defines a function or a class;
5. of those, it is the only one that no other imports.

Otherwise the submission is refused with the names that were left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from harness.errors import Refused
from harness.parsing import Outline

PREFERRED: Final = ("submission", "solution", "attention", "main")
_NEVER: Final = frozenset({"setup", "conftest", "noxfile", "tasks", "__init__", "__main__"})
_TEST_FOLDERS: Final = frozenset({"test", "tests"})
#: So many names in a refusal.
_NAMED: Final = 5


def choose_entry(
    names: Sequence[str],
    outline: Callable[[str], Outline | None],
    asked: Sequence[frozenset[str]] = (),
) -> str:
    """Return the name of the file that holds the answer.

    ``asked`` are sets of names that the answer may define, the likeliest set first. ``outline``
    is asked only when there are several files; None from it counts as a file that defines
    something.

    Raises:
        Refused: there is no file, or no rule leaves exactly one.
    """
    if not names:
        raise Refused("the submission has no Python file or notebook")
    sources = [name for name in names if not _is_support(name)] or list(names)
    if len(sources) == 1:
        return sources[0]
    named = _preferred(sources)
    if named and not asked:
        return named
    outlines = {name: outline(name) for name in sources}
    for wanted in asked:
        counts = {name: _counts(found, wanted) for name, found in outlines.items()}
        most = max(counts.values())
        if most != (0, 0):
            sources = [name for name in sources if counts[name] == most]
            break
    if len(sources) == 1:
        return sources[0]
    if named := _preferred(sources):
        return named
    outlines = {name: outlines[name] for name in sources}
    defining = [
        name for name, found in outlines.items() if found is None or found.defines != frozenset()
    ]
    if len(defining) == 1:
        return defining[0]
    roots = [
        name
        for name in defining
        if not any(
            found is not None and stem(name) in found.imports
            for other, found in outlines.items()
            if other != name
        )
    ]
    if len(roots) == 1:
        return roots[0]
    raise _ambiguous(roots or defining or sources)


def _counts(outline: Outline | None, wanted: frozenset[str]) -> tuple[int, int]:
    """Return how many of the names a file has, and how many of them it defines itself."""
    if outline is None or outline.defines is None:
        return 0, 0
    defined = outline.defines & wanted
    return len(defined | (outline.imports & wanted)), len(defined)


def stem(name: str) -> str:
    """Return a file's name without folders and ending."""
    return PurePosixPath(name).stem


def _is_support(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        path.stem.lower() in _NEVER
        or path.stem.lower().startswith("test_")
        or path.stem.lower().endswith("_test")
        or any(part.lower() in _TEST_FOLDERS for part in path.parts[:-1])
    )


def _preferred(names: Iterable[str]) -> str | None:
    by_depth = sorted(names, key=lambda name: (name.count("/"), name))
    for wanted in PREFERRED:
        found = [name for name in by_depth if stem(name).lower() == wanted]
        if found and (len(found) == 1 or found[0].count("/") < found[1].count("/")):
            return found[0]
    return None


def _ambiguous(names: Sequence[str]) -> Refused:
    listed = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Refused(
        f"the submission has {len(names)} files that could be the answer ({listed}{more}), "
        f"expected one; name it {PREFERRED[0]}.py"
    )
