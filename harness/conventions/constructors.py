"""How an object of the submission's class is made: each parameter from a size or a constant.

A parameter's name says what it is: a width, a number of heads, a rate of dropout. The brief's
sizes fill what they can; a parameter of settings is filled field by field. What has a default and
is none of the brief's sizes keeps it, except dropout, which is off.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.candidate import Parameter
from harness.candidate.weights import words
from harness.errors import NotOffered
from harness.protocol import Settings, Value
from harness.spec import EntryPoint

Plain = None | bool | int | float | str

#: What a parameter of a constructor is -> words and whole names that say so, the first that fits.
KINDS: Final[Mapping[str, frozenset[str]]] = {
    "dropout": frozenset({"dropout", "drop", "pdrop", "p", "rate", "prob"}),
    "kv_heads": frozenset({"kv", "group", "groups"}),
    "ff": frozenset({"ff", "ffn", "mlp", "inner", "feedforward", "intermediate", "hidden"}),
    "causal": frozenset({"causal", "decoder", "autoregressive", "masked"}),
    "bias": frozenset({"bias"}),
    "length": frozenset({"context", "block", "max", "seq", "len", "length", "ctx", "position"}),
    "key_width": frozenset({"qk", "dk", "dq", "k", "q"}),
    "value_width": frozenset({"dv", "v"}),
    "device": frozenset({"device"}),
    "temperature": frozenset({"temperature", "temp"}),
    "number": frozenset({"vocab", "layer", "layers"}),
}
_WHOLE: Final[Mapping[str, str]] = {
    "d_k": "key_width", "d_q": "key_width", "d_v": "value_width", "v_size": "value_width",
    "dim_k": "key_width", "dim_v": "value_width", "dim_q": "key_width", "k_size": "key_width",
    "key_size": "key_width", "value_size": "value_width", "q_size": "key_width",
    "head_dim": "head_width", "d_head": "head_width", "head_size": "head_width",
    "dim_head": "head_width", "dim_per_head": "head_width", "d_key": "key_width",
    "dim_key": "key_width", "dim_value": "value_width", "d_value": "value_width",
    "d_out": "out", "out_dim": "out", "output_dim": "out", "dim_out": "out", "out_features": "out",
    "hidden_size": "model", "hidden": "model", "d_hidden": "ff", "ff_mult": "factor",
    "mlp_ratio": "factor", "expansion": "factor", "ratio": "factor",
}  # fmt: skip
_HEADS: Final = frozenset({"h", "heads", "head", "nhead", "nheads"})
CONSTANTS: Final[Mapping[str, Plain]] = {
    "dropout": 0.0, "causal": False, "bias": True, "length": 64, "device": "cpu", "number": 4,
    "factor": 4,
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """What one parameter of a constructor is given."""

    name: str
    place: int | None = None  #: which of the brief's sizes
    per: int | None = None  #: divided by this one of them
    root: bool = False  #: its square root
    constant: Plain = None
    fields: tuple[Argument, ...] | None = None  #: of an object of settings

    def value(self, made_of: Sequence[Value]) -> Value:
        """Return what is given where the brief's sizes are these."""
        if self.fields is not None:
            fields = {one.name: one.value(made_of) for one in self.fields}
            return Settings(fields)  # type: ignore[arg-type]
        if self.place is None:
            return self.constant
        size = made_of[self.place]
        if self.root:
            return math.sqrt(size)  # type: ignore[arg-type]
        if self.per is None:
            return size
        return size // made_of[self.per]  # type: ignore[operator]

    def places(self) -> Iterator[int]:
        """Yield the sizes that it depends on."""
        if self.place is not None:
            yield self.place
        for one in self.fields or ():
            yield from one.places()

    def words(self) -> str:
        """Spell it, e.g. ``config(n_embd, n_head)``."""
        if self.fields is None:
            return self.name
        return f"{self.name}({', '.join(one.name for one in self.fields)})"


def kind_of(name: str) -> str:
    """Return what a parameter is by its name: a key of ``KINDS``, "heads", "model" or ""."""
    lowered = name.lower()
    if lowered in _WHOLE:
        return _WHOLE[lowered]
    parts = set(words(name)) | {lowered}
    if parts & KINDS["kv_heads"] and parts & _HEADS:
        return "kv_heads"
    if parts & _HEADS and not parts & {"dim", "size", "width", "d"}:
        return "heads"
    if parts & {"head", "heads"} and not parts & {"model", "embed", "emb"}:
        return "head_width"
    for kind in ("dropout", "causal", "bias", "device", "temperature", "length", "number"):
        if parts & KINDS[kind] and not (kind == "length" and parts & {"d", "dim", "embed", "emb"}):
            return kind
    if parts & KINDS["key_width"] or parts & {"key", "query"}:
        return "key_width" if not parts & {"dim"} or "key" not in parts else "model"
    if parts & KINDS["value_width"]:
        return "value_width"
    if parts & KINDS["ff"] and not parts & {"model", "embed", "emb"}:
        return "ff"
    if parts & {"d", "dim", "dims", "model", "emb", "embd", "embed", "embedding", "width", "size",
                "features", "channels", "in", "input", "n"}:  # fmt: skip
        return "model"
    return ""


def arguments_of(point: EntryPoint, takes: Sequence[Parameter]) -> tuple[Argument, ...]:
    """Return what each parameter of a constructor is given; () where that is the brief's order."""
    takes = [one for one in takes if not one.kind.startswith("var_")]
    if [one.name for one in takes][: len(point.constructor)] == list(point.constructor):
        extra = takes[len(point.constructor) :]
        if not any(not one.default or kind_of(one.name) == "dropout" for one in extra):
            return ()
    sizes = _Sizes(point)
    given = [sizes.argument(one) for one in takes]
    chosen = [one for one in given if one is not None]
    made = sizes.by_position(takes, chosen) or tuple(chosen)
    first = [one.name for one in takes[: len(made)]] == [one.name for one in made]
    in_order = [(one.place, one.per) for one in made] == [(n, None) for n in range(len(made))]
    return () if first and in_order and len(made) >= len(point.sizes) else made


def arguments_for_call(
    point: EntryPoint, takes: Sequence[Parameter], sizes: Mapping[str, int]
) -> tuple[Argument, ...]:
    """Return what a class is made of that stands for a function, from sizes of each call."""
    of_call = dataclasses.replace(point, constructor=tuple(sizes), sizes=tuple(sizes.values()))
    takes = [one for one in takes if not one.kind.startswith("var_")]
    made = arguments_of(of_call, takes)
    if made or not takes:
        return made
    return tuple(
        Argument(name=one.name, place=place) for place, one in enumerate(takes[: len(sizes)])
    )


class _Sizes:
    """Which of the brief's sizes a kind of parameter is."""

    def __init__(self, point: EntryPoint) -> None:
        self._names = point.constructor
        self._kinds = {kind_of(name): place for place, name in enumerate(point.constructor)}
        self._count = len(point.sizes)

    def argument(self, one: Parameter) -> Argument | None:
        """Return what a parameter is given, None where it keeps its default."""
        if one.fields:
            fields = [self._plain(Parameter(name)) for name in one.fields]
            known = tuple(field for field in fields if field is not None)
            return Argument(name=one.name, fields=known)
        return self._plain(one)

    def _plain(self, one: Parameter) -> Argument | None:
        if one.name in self._names:
            return Argument(name=one.name, place=self._names.index(one.name))
        kind = kind_of(one.name)
        model, heads = self._kinds.get("model", 0), self._kinds.get("heads")
        if kind in self._kinds and kind not in ("", "causal"):
            return Argument(name=one.name, place=self._kinds[kind])
        match kind:
            case "causal" if "causal" in self._kinds:
                return Argument(name=one.name, place=self._kinds["causal"])
            case "key_width" | "value_width" | "head_width" if heads is not None:
                return None if one.default else Argument(name=one.name, place=model, per=heads)
            case "head_width" if "key_width" in self._kinds:
                return Argument(name=one.name, place=self._kinds["key_width"])
            case "out" if "value_width" in self._kinds:
                return Argument(name=one.name, place=self._kinds["value_width"])
            case "out" | "model":
                return None if one.default else Argument(name=one.name, place=model)
            case "temperature":
                return Argument(name=one.name, place=model, root=True)
            case "heads" | "kv_heads" if heads is None:
                return Argument(name=one.name, constant=1)
            case "kv_heads":
                return None if one.default else Argument(name=one.name, place=heads)
            case "dropout":
                return Argument(name=one.name, constant=0.0)
            case "causal":
                return Argument(name=one.name, constant=False)
        if one.default:
            return None
        return Argument(name=one.name, constant=CONSTANTS.get(kind))

    def by_position(
        self, takes: Sequence[Parameter], chosen: Sequence[Argument]
    ) -> tuple[Argument, ...]:
        """Fill sizes by position where names say nothing, or return ()."""
        unknown = [one for one in takes if not kind_of(one.name) and not one.default]
        if not unknown or any(one.fields for one in takes):
            return ()
        used = {place for one in chosen for place in one.places()}
        free = [place for place in range(self._count) if place not in used]
        filled = {one.name: place for one, place in zip(unknown, free, strict=False)}
        return tuple(
            dataclasses.replace(one, place=filled[one.name]) if one.name in filled else one
            for one in chosen
        )


def offered_sizes(
    point: EntryPoint,
    arguments: Sequence[Argument],
    made_of: tuple[Value, ...],
    causal: bool | None,
) -> tuple[Value, ...]:
    """Return the sizes of what is made where the brief asks for these.

    A width that the constructor does not take follows from the others: that of a feed-forward
    layer is 4·d_model, those of queries, keys and values are the model's.

    Raises:
        NotOffered: the class cannot be made so, e.g. without its causal mask.
    """
    if not arguments:
        return made_of
    used = {place for one in arguments for place in one.places()}
    sizes = list(made_of)
    kinds = {kind_of(name): place for place, name in enumerate(point.constructor)}
    for place, name in enumerate(point.constructor[: len(sizes)]):
        if place in used:
            continue
        match kind_of(name):
            case "causal":
                if causal is not None and bool(sizes[place]) != causal:
                    raise NotOffered(f"{name}={sizes[place]}")
            case "heads":
                if sizes[place] != 1:
                    raise NotOffered("second head")
            case "ff":
                sizes[place] = 4 * sizes[0]  # type: ignore[operator]
            case "value_width" if 1 in used:
                sizes[place] = sizes[1]
            case "key_width" if "value_width" in kinds and kinds["value_width"] in used:
                sizes[place] = sizes[kinds["value_width"]]
            case _:
                sizes[place] = sizes[0]
    return tuple(sizes)
