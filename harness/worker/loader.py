"""Loads a submission from memory, and says what it found.

The module is executed as ``python -m`` would, except that its name is not ``__main__``. If that
raises, the definitions that follow the line that raised are tried alone.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import linecache
import math
import sys
import types
from collections.abc import Mapping
from typing import Any

from . import definitions, eager, failure, settings_read
from .inert import StandIns
from .missing_names import TORCH_NAMES, missing_names
from .missing_names import value as _given
from .sources import Sources
from .values import NAME_CAP, printable

ENTRIES_CAP = 200
_PARAMETERS_CAP = 24
#: Room for the names in a header, which may have 64 KiB in all.
_NAMES_ROOM = 40 << 10
#: Share of the import deadline that the module as a whole gets; the rest is for its definitions.
WHOLE_SHARE = 0.75


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded submission: its namespace, its files, and the reply that describes it."""

    namespace: dict[str, Any]
    files: frozenset[str]
    reply: dict[str, Any]


def load(
    header: Mapping[str, Any], payload: memoryview, *, definitions_because: str = ""
) -> Loaded:
    """Load the submission of a ``load`` frame.

    ``definitions_because`` says why the module as a whole is not tried again, e.g. that it did
    not finish in time.
    """
    sources = Sources(_cut(header["files"], payload), header["entry"])
    available = ("einops", "numpy", "torch") if header["arrays"] == "torch" else ("einops", "numpy")
    stand_ins = StandIns(frozenset(sources.texts), available)
    sys.meta_path[:] = [sources, stand_ins, *sys.meta_path]
    files = frozenset(sources.texts)
    module = sources.entry_module()
    if header["arrays"] == "torch":
        eager.run_as_written()
    given = missing_names(sources.texts[sources.entry])
    if header["arrays"] != "torch":
        given -= TORCH_NAMES
    module.__dict__.update((name, _given(name)) for name in given)
    reply: dict[str, Any] = {"loaded": "whole", "reason": "", "skipped": []}
    if definitions_because:
        reply = _definitions(sources, module, definitions_because, after=0)
    else:
        try:
            exec(sources.compile(sources.entry), module.__dict__)
        except BaseException as error:
            reply = _after_error(sources, module, error)
    if "raised" not in reply:
        reply["inert"] = stand_ins.given
        reply["given"] = sorted(given)
        reply["names"] = _names(module, files)
    return Loaded(module.__dict__, files, reply)


def _cut(files: list[dict[str, Any]], payload: memoryview) -> dict[str, bytes]:
    contents, offset = {}, 0
    for file in files:
        contents[file["name"]] = bytes(payload[offset : offset + file["size"]])
        offset += file["size"]
    return contents


def _after_error(
    sources: Sources, module: types.ModuleType, error: BaseException
) -> dict[str, Any]:
    """Go on with the definitions below the statement that raised."""
    raised = failure.describe(error, frozenset(sources.texts))
    frame, after = error.__traceback__, 0
    while frame is not None:
        if frame.tb_frame.f_globals is module.__dict__:
            after = frame.tb_lineno
            break
        frame = frame.tb_next
    if not after:  # nothing was executed: the file does not compile
        return {"raised": raised}
    reason = f"{failure.in_words(raised)} ({raised['file']} line {raised['line']})"
    return _definitions(sources, module, reason, after=after)


def _definitions(
    sources: Sources, module: types.ModuleType, reason: str, *, after: int
) -> dict[str, Any]:
    tree = ast.parse(sources.texts[sources.entry], sources.entry)
    skipped = definitions.execute(tree, module.__dict__, sources.entry, after=after)
    return {"loaded": "definitions", "reason": reason, "skipped": skipped}


def _names(module: types.ModuleType, files: frozenset[str]) -> list[dict[str, Any]]:
    """Describe the functions and classes that the submission defines, in their order."""
    entries: list[dict[str, Any]] = []
    room, read = _NAMES_ROOM, _fields_read(module)
    for name, value in list(module.__dict__.items()):
        try:
            entry = _describe(name, value, files, read)
        except BaseException:  # a hostile attribute; not a name that can be called
            continue
        if entry is None:
            continue
        room -= len(repr(entry))
        if room < 0 or len(entries) == ENTRIES_CAP:
            break
        entries.append(entry)
    return entries


def _fields_read(module: types.ModuleType) -> dict[str, dict[str, list[str]]]:
    """Return what each class of the module reads of the settings that it is made from."""
    try:
        text = "".join(linecache.getlines(str(module.__file__)))
        return settings_read.fields_by_class(ast.parse(text))
    except Exception:  # it informs only
        return {}


def _describe(
    name: str, value: Any, files: frozenset[str], read: Mapping[str, Mapping[str, list[str]]]
) -> dict[str, Any] | None:
    if type(name) is not str or name.startswith("__") or len(name) > NAME_CAP:
        return None
    entry: dict[str, Any] = {
        "name": printable(name),
        "kind": "function",
        "parameters": _parameters(value),
    }
    if isinstance(value, types.FunctionType):
        return entry if inspect.unwrap(value).__code__.co_filename in files else None
    for parameter in entry["parameters"] if isinstance(value, type) else ():
        if fields := read.get(value.__name__, {}).get(parameter["name"]):
            parameter["fields"] = fields
    if isinstance(value, type):
        method = getattr(value, "forward", None) or value.__dict__.get("__call__")
        call = _parameters(method)[1:] if isinstance(method, types.FunctionType) else []
        return entry | {"kind": "class", "call": call} if _file_of(value) in files else None
    wrapped = type(value).__module__ == "functools" or _file_of(type(value)) in files
    return entry if wrapped and callable(value) else None


def _file_of(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", ""))


def _parameters(value: Any) -> list[dict[str, Any]]:
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return []
    return [
        {
            "name": printable(parameter.name)[:NAME_CAP],
            "kind": parameter.kind.name.lower(),
            "default": parameter.default is not parameter.empty,
            "value": _plain(parameter.default),
        }
        for parameter in parameters[:_PARAMETERS_CAP]
    ]


def _plain(default: Any) -> bool | int | float | None:
    """Return a default that is a plain number or a flag, None for any other."""
    kept = type(default) is bool or (type(default) is int and abs(default) < 1 << 31)
    return default if kept or (type(default) is float and math.isfinite(default)) else None


def why_not_whole(how: str, detail: str, seconds: float) -> str:
    """Say why a second process loads the definitions alone, after the first was ended."""
    if how == "timed_out":
        return f"its top level did not finish in {seconds * WHOLE_SHARE:g} s"
    if how == "out_of_resources":
        return f"its top level ran out of {detail}"
    return f"its top level ended the process: {detail}"
