"""Unified diffs as they are applied to one text, strictly: every line must be where it is said."""

import re

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class PatchMismatch(ValueError):
    """A patch does not belong to the text that it names."""


def names(patch: str) -> tuple[str, str]:
    """Return the names of the base and of the result, from the two lines that begin a patch."""
    before, after = patch.split("\n")[:2]
    if not before.startswith("--- ") or not after.startswith("+++ "):
        raise PatchMismatch(f"the first lines are {before!r} and {after!r}, expected ---, +++")
    return before.removeprefix("--- "), after.removeprefix("+++ ")


def apply(base: str, patch: str) -> str:
    """Return a text after the hunks of a patch.

    Lines are what stands between newlines, so that the empty one after the last newline is a line
    as well, and a file without a newline at its end needs no mark.

    Raises:
        PatchMismatch: A line that the patch keeps or removes is not at its place in the base, or a
            line of the patch is none of a hunk.
    """
    lines = base.split("\n")
    result: list[str] = []
    position = 0
    for line in patch.removesuffix("\n").split("\n")[2:]:
        if hunk := HUNK.fullmatch(line):
            start = int(hunk[1]) - (hunk[2] != "0")
            if start < position:
                raise PatchMismatch(f"hunk {line!r} begins before the end of the one above it")
            result += lines[position:start]
            position = start
        elif line[:1] == "+":
            result.append(line[1:])
        elif line[:1] in ("-", " "):
            if lines[position : position + 1] != [line[1:]]:
                raise PatchMismatch(f"line {position + 1} of the base is not {line[1:]!r}")
            result += [line[1:]] if line[0] == " " else []
            position += 1
        else:
            raise PatchMismatch(f"{line!r} is no line of a unified diff")
    return "\n".join([*result, *lines[position:]])
