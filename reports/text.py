"""Text from a submission, made fit to be shown: visible, bounded, and nothing but text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from harness.text import FIELD_CAP as FIELD
from harness.text import visible

#: Most entries of one list; a spec has about forty checks, a batch is cut elsewhere.
ENTRIES: Final = 500

_CARD: Final = re.compile(r"cards/[A-Za-z0-9_-][A-Za-z0-9._-]*\.html")

_Value = TypeVar("_Value")


def clip(text: str, limit: int = FIELD) -> str:
    """Cut a text to ``limit`` characters and say how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … [{len(text) - limit:,} more characters]"


def shown(value: _Value, *, field: int = FIELD, entries: int = ENTRIES) -> _Value:
    """Copy a result with every text visible and clipped, and every list cut to ``entries``.

    The renderers show such copies only, so that no field can be forgotten.
    """
    copy = _shown(value, field, entries)
    assert isinstance(copy, type(value))
    return copy


def _shown(value: object, field: int, entries: int) -> object:
    if type(value) is str:
        return visible(clip(value, field))
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return type(value)(**{name: _shown(getattr(value, name), field, entries) for name in names})
    if isinstance(value, tuple):
        return tuple(_shown(item, field, entries) for item in value[:entries])
    if isinstance(value, Mapping):
        items = list(value.items())[:entries]
        return {_shown(key, field, entries): _shown(item, field, entries) for key, item in items}
    return value


def card_link(path: str) -> str:
    """Return the address of a card if it is one that we make, else nothing."""
    return path if _CARD.fullmatch(path) else ""
