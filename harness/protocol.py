"""What the host asks of a submission, and what comes back: steps and answers.

``encode`` and ``decode`` are the only places where steps and answers meet the wire format
(``docs/protocol.md``). Everything decoded here is hostile: ``decode`` raises ``WireError`` for
whatever is not an answer to exactly these steps.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import msgspec
import numpy as np

from harness.errors import CandidateRaised
from harness.text import sanitise
from harness.worker import wire

Floats = np.ndarray[Any, Any]

#: More outputs than any interface here has, and as many parameters as a worker reads.
OUTPUTS_CAP = 512
MESSAGE_CAP = 1024
FORMS = ("single", "tuple", "list", "dict", "nothing")
#: Plain whole numbers that cross: float64 can hold each, so that a comparison cannot overflow.
INTEGERS = range(-(1 << 63), 1 << 63)


@dataclasses.dataclass(frozen=True, slots=True)
class Tensor:
    """An array with its wire dtype; bfloat16 ("bf2") holds its values as float32."""

    values: Floats
    dtype: str
    transposed: bool = False  #: ask for the last two axes to be swapped in memory

    @classmethod
    def of(cls, values: Floats) -> Tensor:
        """Wrap a numpy array under its own dtype."""
        return cls(values, wire.dtype_code(values.dtype))

    @classmethod
    def rounded(cls, values: Floats, dtype: str) -> Tensor:
        """Round values to a wire dtype, e.g. "f2" or "bf2"."""
        if dtype == "bf2":
            return cls(wire.bfloat16_to_float32(to_bfloat16(values)), dtype)
        return cls(values.astype(wire.DTYPES[dtype]), dtype)


@dataclasses.dataclass(frozen=True, slots=True)
class Handle:
    """An object in the sandbox, by the number the host gave it."""

    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class Opaque:
    """Something that came back and is not data, e.g. a cache."""

    kind: str


@dataclasses.dataclass(frozen=True, slots=True)
class Unsupported:
    """An array whose dtype may not cross the wall, e.g. complex128."""

    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """An object with fields, which are plain values: what some classes are made from."""

    fields: Mapping[str, bool | int | float | str | None]


Value = Tensor | Floats | Handle | Settings | None | bool | int | float | str
Output = Tensor | Opaque | Unsupported | None | bool | int | float | str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Call a function of the submission, an object made earlier, or a method of it by name."""

    name: str = ""
    object: Handle | None = None
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    echo: bool = False  #: also return the arguments as they are after the call
    keep: Mapping[int, Handle] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gradients:
    """Gradients of Σ output·cotangent with respect to arguments, and to an object's parameters."""

    name: str = ""
    object: Handle | None = None
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    cotangents: tuple[Floats | Tensor | None, ...] = ()
    of: tuple[int, ...] = ()  #: places among the arguments; those with keywords come last


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """Make an object of one of the submission's classes."""

    object: Handle
    name: str
    arguments: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Parameters:
    """Read an object's parameters."""

    object: Handle


@dataclasses.dataclass(frozen=True, slots=True)
class SetParameters:
    """Give an object's parameters new values."""

    object: Handle
    values: Mapping[str, Floats]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Put an object into training or evaluation mode."""

    object: Handle
    training: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Call an object and count the floating-point operations of its matrix products."""

    object: Handle
    arguments: tuple[Value, ...] = ()
    name: str = ""
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)


Step = Call | Gradients | Construct | Parameters | SetParameters | Mode | Cost


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one step gave: its outputs, or what it raised."""

    form: str = "nothing"  #: single, tuple, list, dict, nothing
    outs: tuple[Output, ...] = ()
    echo: tuple[Output, ...] = ()
    names: tuple[str, ...] = ()
    raised: CandidateRaised | None = None


def encode(steps: Sequence[Step]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Return the steps' header entries and their payload, in order.

    An array that a step has twice crosses once, so that there it is one object, too.
    """
    blobs: list[bytes] = []
    return [_encode_step(step, _Payload(blobs)) for step in steps], blobs


class PreparedSteps(Sequence[Step]):
    """Several exchanges as the steps of one frame, encoded once however often it is sent."""

    def __init__(self, exchanges: Iterable[Sequence[Step]]) -> None:
        parts = tuple(exchanges)
        self._steps = tuple(step for part in parts for step in part)
        entries, blobs = encode(self._steps)
        self.exchanges = len(parts)
        self.entries: Any = msgspec.Raw(msgspec.json.encode(entries))
        self.blobs = [b"".join(blobs)]

    @property
    def header_bytes(self) -> int:
        """The size of the steps' header entries."""
        return len(bytes(self.entries))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)


@dataclasses.dataclass(frozen=True, slots=True)
class _Payload:
    """The bytes of a frame's arrays, and which arrays of this step are among them."""

    blobs: list[bytes]
    sent: dict[int, int] = dataclasses.field(default_factory=dict)  #: id -> place in the step


def _encode_step(step: Step, payload: _Payload) -> dict[str, Any]:
    match step:
        case Call():
            entry = _encode_target("call", step, payload)
            if step.echo:
                entry["echo"] = True
            if step.keep:
                entry["keep"] = {str(place): kept.number for place, kept in step.keep.items()}
            return entry
        case Gradients():
            entry = _encode_target("gradients", step, payload)
            entry["cotangents"] = [_encode_value(value, payload) for value in step.cotangents]
            entry["of"] = list(step.of)
            return entry
        case Cost():
            return _encode_target("cost", step, payload)
        case Construct():
            return {
                "do": "construct",
                "object": step.object.number,
                "name": step.name,
                "arguments": [_encode_value(value, payload) for value in step.arguments],
                "keywords": {k: _encode_value(v, payload) for k, v in step.keywords.items()},
            }
        case Parameters():
            return {"do": "parameters", "object": step.object.number}
        case SetParameters():
            return {
                "do": "set",
                "object": step.object.number,
                "names": list(step.values),
                "arguments": [_encode_value(value, payload) for value in step.values.values()],
            }
        case Mode():
            return {"do": "mode", "object": step.object.number, "training": step.training}


def _encode_target(verb: str, step: Call | Gradients | Cost, payload: _Payload) -> dict[str, Any]:
    entry: dict[str, Any] = {"do": verb}
    if step.object is not None:
        entry["object"] = step.object.number
    if step.name or step.object is None:
        entry["name"] = step.name
    entry["arguments"] = [_encode_value(value, payload) for value in step.arguments]
    entry["keywords"] = {key: _encode_value(v, payload) for key, v in step.keywords.items()}
    return entry


def _encode_value(value: Value, payload: _Payload) -> dict[str, Any]:
    match value:
        case np.ndarray() | Tensor():
            if id(value) in payload.sent:
                return {"k": "same", "v": payload.sent[id(value)]}
            payload.sent[id(value)] = len(payload.sent)
            tensor = Tensor.of(value) if isinstance(value, np.ndarray) else value
            return _encode_array(tensor, payload)
        case None:
            return {"k": "none"}
        case bool():
            return {"k": "bool", "v": value}
        case int():
            return {"k": "int", "v": value}
        case float():
            return {"k": "float", "v": value if math.isfinite(value) else str(value)}
        case str():
            return {"k": "str", "v": value}
        case Handle():
            return {"k": "object", "v": value.number}
        case Settings():
            fields = {name: _encode_value(one, payload) for name, one in value.fields.items()}
            return {"k": "settings", "v": fields}
    raise TypeError(f"argument is a {type(value).__name__}, expected an array or a plain value")


def _encode_array(value: Tensor, payload: _Payload) -> dict[str, Any]:
    array = to_bfloat16(value.values) if value.dtype == "bf2" else value.values
    payload.blobs.append(wire.array_bytes(array))
    entry = wire.describe_array(value.values, value.dtype)
    if value.transposed:
        entry["layout"] = "transposed"
    return entry


def to_bfloat16(values: Floats) -> Floats:
    """Round float32 values to bfloat16 (nearest, ties to even) and return the raw 16 bits."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounding = 0x7FFF + ((bits >> 16) & 1)
    return ((bits + rounding) >> 16).astype(np.uint16)


def decode(header: Mapping[str, Any], payload: memoryview, steps: int) -> list[Answer]:
    """Read the answers to ``steps`` steps; raises ``WireError`` for anything else."""
    entries = header.get("answers")
    if not isinstance(entries, list) or len(entries) != steps:
        raise wire.WireError(f"reply does not hold {steps} answers")
    arrays = iter(wire.split_payload(_arrays_of(entries), payload))
    return [_decode_answer(entry, arrays) for entry in entries]


def _arrays_of(entries: list[Any]) -> list[dict[str, Any]]:
    found = []
    for entry in entries:
        if not isinstance(entry, dict):
            raise wire.WireError("answer is not an object")
        if "raised" in entry:
            continue
        for key in ("outs", "echo"):
            found += [value for value in _list(entry, key) if value.get("k") == "array"]
    return found


def _list(entry: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    values = entry.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise wire.WireError(f"{key} is not a list of values")
    if len(values) > OUTPUTS_CAP:
        raise wire.WireError(f"{key} holds {len(values)} values, expected at most {OUTPUTS_CAP}")
    return values


def _decode_answer(entry: Mapping[str, Any], arrays: Any) -> Answer:
    if "raised" in entry:
        return Answer(raised=decode_raised(entry["raised"]))
    names = entry.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise wire.WireError("names is not a list of strings")
    form = entry.get("form", "nothing")
    if form not in FORMS:
        raise wire.WireError("form is of no known kind")
    return Answer(
        form=form,
        outs=tuple(_decode_value(value, arrays) for value in _list(entry, "outs")),
        echo=tuple(_decode_value(value, arrays) for value in _list(entry, "echo")),
        # Names go back to the sandbox as they came, so they are not sanitised here.
        names=tuple(name[:200] for name in names[:1000]),
    )


def _decode_value(value: Mapping[str, Any], arrays: Any) -> Output:
    match value.get("k"), value.get("v"):
        case "array", _:
            array = next(arrays)
            array.setflags(write=False)
            return Tensor(array, value["dtype"])
        case "none", _:
            return None
        case "bool", bool(flag):
            return flag
        case "int", int(count) if type(count) is int and count in INTEGERS:
            return count
        case "float", float(size):
            return size
        case "float", ("nan" | "inf" | "-inf") as name:
            return float(name)
        case "str", str(text):
            return _text(text)
        case "opaque", _:
            return Opaque(_text(value.get("type")))
        case "unsupported", _:
            return _decode_unsupported(value)
    raise wire.WireError("value is of no known kind")


def _decode_unsupported(value: Mapping[str, Any]) -> Unsupported:
    shape = value.get("shape")
    if not isinstance(shape, list) or not all(
        type(length) is int and length in INTEGERS for length in shape
    ):
        raise wire.WireError("shape is not a list of lengths")
    return Unsupported(_text(value.get("dtype")), tuple(shape[: wire.DIMENSIONS_CAP]))


def decode_raised(entry: Any) -> CandidateRaised:
    """Read what the submission raised; its words are text for a person, never a class."""
    if not isinstance(entry, dict):
        raise wire.WireError("raised is not an object")
    line = entry.get("line")
    return CandidateRaised(
        _text(entry.get("type"))[:80],
        _text(entry.get("message")),
        line if type(line) is int and 0 < line < 1_000_000 else None,
        _text(entry.get("file")),
    )


def _text(value: Any) -> str:
    return sanitise(value, MESSAGE_CAP) if isinstance(value, str) else ""
