"""Arguments and results: between what crosses the wall and what the submission works with.

Going in, an argument is exactly what the host described. Coming out, only plain data crosses:
exact types, sizes compared with a cap before anything is copied. Whatever else was returned is
described by the name of its type.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import wire

OUTS_CAP = 64
NAMES_CAP = 512
NAME_CAP = 80
TEXT_CAP = 200
_NESTING_CAP = 8


@dataclasses.dataclass(slots=True)
class Reply:
    """What a frame of answers has gathered so far, and how many bytes it may still hold."""

    room: int
    blobs: list[bytes] = dataclasses.field(default_factory=list)

    def add(self, blob: bytes) -> None:
        """Append the bytes of one array."""
        self.room -= len(blob)
        self.blobs.append(blob)


class Settings(dict[str, Any]):
    """What a class is made from where it takes an object with fields, or a dictionary."""

    __getattr__ = dict.__getitem__

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """Builds arguments, as numpy arrays or torch tensors, from headers and one payload."""

    torch: Any  #: the module, or None for numpy arrays
    objects: dict[int, Any]
    arrays: Iterator[tuple[dict[str, Any], memoryview]]
    built: list[Any] = dataclasses.field(default_factory=list)  #: arrays of this step, in order

    def value(self, entry: dict[str, Any]) -> Any:
        """Return the next argument."""
        match entry["k"]:
            case "none":
                return None
            case "array":
                self.built.append(self._array(*next(self.arrays)))
                return self.built[-1]
            case "same":
                return self.built[entry["v"]]
            case "float":
                return float(entry["v"])
            case "object":
                return self.objects[entry["v"]]
            case "settings":
                return Settings({name: self.value(one) for name, one in entry["v"].items()})
            case _:
                return entry["v"]

    def _array(self, entry: dict[str, Any], payload: memoryview) -> Any:
        array = self._contiguous_array(entry, payload)
        if entry.get("layout") != "transposed" or len(entry["shape"]) < 2:
            return array
        contiguous = np.ascontiguousarray if self.torch is None else self.torch.Tensor.contiguous
        return contiguous(array.swapaxes(-1, -2)).swapaxes(-1, -2)

    def _contiguous_array(self, entry: dict[str, Any], payload: memoryview) -> Any:
        if self.torch is None:
            return wire.array_from(entry, payload)
        if entry["dtype"] == "bf2":
            bits = np.frombuffer(payload, np.int16).reshape(entry["shape"]).copy()
            return self.torch.from_numpy(bits).view(self.torch.bfloat16)
        return self.torch.from_numpy(wire.array_from(entry, payload))


def array_entries(values: Any) -> Iterator[dict[str, Any]]:
    """Yield the entries of arrays among the values of a step, in order."""
    for entry in values:
        if entry["k"] == "array":
            yield entry


def results(returned: Any, reply: Reply) -> dict[str, Any]:
    """Describe what a call returned, and put its arrays into ``reply``."""
    form, names, values = _unfold(returned)
    answer: dict[str, Any] = {"form": form, "outs": [describe(value, reply) for value in values]}
    if form == "dict":
        answer["names"] = names
    return answer


def _unfold(returned: Any) -> tuple[str, list[str], list[Any]]:
    """Return the form, the names and the single values of what a call returned."""
    if returned is None:
        return "nothing", [], []
    if isinstance(returned, tuple) and tuple.__len__(returned) <= OUTS_CAP:
        return "tuple", [], list(tuple.__iter__(returned))
    if type(returned) is list and len(returned) <= OUTS_CAP and numbers(returned) is None:
        return "list", [], returned
    if isinstance(returned, dict) and dict.__len__(returned) <= OUTS_CAP:
        keys = [key[:NAME_CAP] if type(key) is str else "" for key in dict.keys(returned)]
        return "dict", keys, list(dict.values(returned))
    return "single", [], [returned]


def describe(value: Any, reply: Reply) -> dict[str, Any]:
    """Return the header entry of one value; an array's bytes go into ``reply``."""
    if value is None:
        return {"k": "none"}
    if type(value) is bool:
        return {"k": "bool", "v": value}
    if type(value) is int and abs(value) < 1 << 63:
        return {"k": "int", "v": value}
    if type(value) is float:
        return {"k": "float", "v": value if math.isfinite(value) else str(value)}
    if type(value) is str and len(value) <= TEXT_CAP:
        return {"k": "str", "v": printable(value)}
    array, code = _as_numpy(value)
    if array is None:
        return {"k": "opaque", "type": type_name(value)}
    return _describe_array(array, code, reply)


def _describe_array(array: np.ndarray[Any, Any], code: str, reply: Reply) -> dict[str, Any]:
    code = code or wire.dtype_code(array.dtype)
    # nbytes counts the elements, not the memory: a broadcast view can announce terabytes.
    if not code or array.ndim > wire.DIMENSIONS_CAP or array.nbytes > reply.room:
        dtype = code or str(array.dtype)[:NAME_CAP]
        return {"k": "unsupported", "dtype": printable(dtype), "shape": list(array.shape)}
    reply.add(wire.array_bytes(array))
    return wire.describe_array(array, code)


def _as_numpy(value: Any) -> tuple[np.ndarray[Any, Any] | None, str]:
    """Return a value as an exact ndarray, and its wire code where numpy has no such dtype."""
    kind = type(value)
    if kind is np.ndarray:
        return value, ""
    if isinstance(value, np.generic) and kind.__module__ == "numpy":
        return np.asarray(value), ""
    if kind is list:
        return numbers(value), ""
    if kind.__module__ in ("torch", "torch.nn.parameter"):
        return _from_torch(value)
    return None, ""


def _from_torch(value: Any) -> tuple[np.ndarray[Any, Any] | None, str]:
    import torch

    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
        return None, ""
    tensor = value.detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        # A view first: an expanded tensor must not be copied before its size is checked.
        return tensor.view(torch.int16).numpy().view(np.uint16), "bf2"
    return tensor.numpy(), ""


def numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """Return a rectangular nested list of numbers as an array, or None when it is not one."""
    if not _only_numbers(value, _NESTING_CAP):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        return None
    return array if array.dtype.kind in "biuf" else None


def _only_numbers(value: Any, depth: int) -> bool:
    if type(value) in (list, tuple):
        return depth > 0 and len(value) > 0 and all(_only_numbers(v, depth - 1) for v in value)
    return type(value) in (int, float, bool) or (
        isinstance(value, np.generic) and type(value).__module__ == "numpy"
    )


def type_name(value: Any) -> str:
    """Return the dotted name of a value's type, as text that can do no harm."""
    kind = type(value)
    name, module = type.__dict__["__name__"].__get__(kind), kind.__dict__.get("__module__")
    if type(module) is str and module not in ("builtins", "__main__"):
        name = f"{module}.{name}"
    return printable(name)[:NAME_CAP]


def printable(text: str) -> str:
    """Return text that can be encoded: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
