"""Where queries go in a call that has as many of them as keys: one text, or a causal mask inside.

One text serves queries and keys, so that both have its length: the queries come first, and rows of
zeros after them fill up. What is causal inside lets its last row see every key: the queries go
there, one in each call. Rows that hold no query of the brief are dropped from the output.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class RowPlacement:
    """How the queries of one call are placed."""

    keys: int
    at_end: bool = False  #: one query in the last row; else from the first row on

    def pieces(self, queries: int) -> list[slice]:
        """Cut the queries into those that go in at once."""
        size = 1 if self.at_end else self.keys
        if size >= queries:
            return [slice(None)]
        return [slice(first, first + size) for first in range(0, queries, size)]

    def placed(self, rows: Floats, fill: float | bool = 0) -> Floats:
        """Place rows of queries, or of a mask, among as many as there are keys."""
        count = rows.shape[-2]
        whole = np.full((*rows.shape[:-2], self.keys, rows.shape[-1]), fill, rows.dtype)
        whole[..., self._at(count), :] = rows
        return whole

    def taken(self, out: Floats, count: int) -> Floats:
        """Take the rows of so many queries out of an output."""
        if out.ndim < 2 or out.shape[-2] != self.keys:
            return out
        return out[..., self._at(count), :]

    def _at(self, count: int) -> slice:
        return slice(self.keys - count, None) if self.at_end else slice(0, count)
