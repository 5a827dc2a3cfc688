"""One call of the brief, cut into calls that a submission takes, and their answers joined.

One per item, head or query, as its mask and its layout need: queries are independent of each
other, items and heads as well. Where one text serves as two sources, the query's features and the
keys' do not overlap (``harness.candidate.separation``), so that the text is their sum.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.conventions.convention import AXIS_ORDERS, Convention, array_of, mapped
from harness.conventions.row_placement import RowPlacement
from harness.errors import NotOffered
from harness.protocol import Answer, Gradients, Output, Tensor, Value

Floats = np.ndarray[Any, Any]


class _Piece(NamedTuple):
    """Which part of a call goes in at once."""

    items: slice = slice(None)
    heads: slice = slice(None)
    queries: slice = slice(None)


class SplitCall:
    """One call of the brief, cut as its mask and its layout need."""

    def __init__(self, convention: Convention, arguments: Sequence[Value]) -> None:
        self._convention = convention
        self._given = tuple(arguments)
        places = convention.places
        query, key = (
            array_of(arguments[place]) if place is not None and place < len(arguments) else None
            for place in (places.query, places.key)
        )
        self._known = query is not None and key is not None and query.ndim > 2
        self._placement: RowPlacement | None = None
        if query is None or key is None or not self._known:
            return
        self._leading, self._queries = query.shape[:-2], query.shape[-2]
        self._kind = query.dtype if query.dtype.kind == "f" else np.dtype(np.float64)
        self._raw = self._mask()
        self._has_mask = places.mask is not None and places.mask < len(arguments)
        self._axes = "bhqk" if convention.headed else "bqk"
        whole = (*query.shape[:-1], key.shape[-2])
        if len(self._axes) > len(whole):  # the heads are inside a layer, not in its arguments
            heads = 1 if self._raw is None or self._raw.ndim < 4 else self._raw.shape[1]
            whole = (whole[0], heads, *whole[1:])
        self._whole = None if self._raw is None else _broadcast(self._raw, whole)
        self._placement = self._place_rows(key.shape[-2])

    def _place_rows(self, keys: int) -> RowPlacement | None:
        """Return where the queries go, or None where they go in as they are."""
        convention, places = self._convention, self._convention.places
        if convention.causal:
            mask = self._given[places.mask] if self._has_mask and places.mask else None
            if mask is not None and convention.is_causal(mask, exactly=False):
                return None
            if convention.sources < 2 and not self._separate:
                raise NotOffered("call without its causal mask")
            return RowPlacement(keys, at_end=True)
        if convention.sources > 1 or not self._separate or keys == self._queries:
            return None
        return RowPlacement(keys)

    @property
    def _separate(self) -> bool:
        """Whether the queries are another array than the keys."""
        places = self._convention.places
        return self._given[places.query or 0] is not self._given[places.key or 0]

    def calls(self) -> Iterator[tuple[tuple[Value, ...], dict[str, Value]]]:
        """Yield the arguments of each of the submission's calls."""
        if not self._known:
            yield self.whole()
            return
        for piece in self._pieces():
            yield self._convention.arguments(self._cut(piece))

    def whole(self) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """Return the arguments of the call as one."""
        values = list(self._given)
        if self._known:
            return self._convention.arguments(self._cut(_Piece()))
        place = self._convention.places.mask
        mask = array_of(values[place]) if place is not None and place < len(values) else None
        if place is not None and mask is not None and mask.dtype.kind != "f":
            allowed = (mask != 0) ^ self._convention.blocking
            values[place] = self._convention.mask.write(allowed, "", np.float32)
        return self._convention.arguments(values)

    def together(
        self, answers: Sequence[Answer], variants: Mapping[str, Callable[[Floats], Floats]]
    ) -> Answer:
        """Put the answers of the pieces together, in the brief's terms."""
        pieces = list(self._pieces()) if self._known else [_Piece()]
        cut = [
            dataclasses.replace(answer, outs=self._outputs(piece, answer, variants))
            for piece, answer in zip(pieces, answers, strict=False)
        ]
        first = cut[0]
        if len(pieces) > 1 and len(cut) == len(pieces):
            columns = zip(*(answer.outs for answer in cut), strict=False)
            outs = tuple(self._joined(pieces, column) for column in columns)
            first = dataclasses.replace(first, outs=outs)
        return dataclasses.replace(first, echo=self._echo(answers)) if first.echo else first

    def _outputs(
        self, piece: _Piece, answer: Answer, variants: Mapping[str, Callable[[Floats], Floats]]
    ) -> tuple[Output, ...]:
        """Return the outputs of a piece, the keys of its weights in the brief's order again."""
        if not self._known:
            return self._convention.outputs(answer.outs, (), variants)
        parts = zip((piece.items, piece.heads), self._leading, strict=False)
        leading = tuple(len(range(length)[part]) for part, length in parts)
        outs = self._convention.outputs(answer.outs, leading, variants)
        if self._placement is not None:
            count, taken = len(range(self._queries)[piece.queries]), self._placement.taken
            outs = tuple(mapped(out, lambda array: taken(array, count)) for out in outs)
        out, *weights = outs or (None,)
        if (order := self._order(piece)) is None or not weights:
            return out, *weights

        def back(array: Floats) -> Floats:
            places = np.argsort(order, -1)[..., None, :]
            if array.ndim != places.ndim or array.shape[-1] != places.shape[-1]:
                return array
            return np.take_along_axis(array, places, -1)

        return out, mapped(weights[0], back), *weights[1:]

    def gradient_steps(self, step: Gradients) -> list[Gradients]:
        """Return the steps that give the gradients of each piece."""
        if not self._known:
            given, named = self.whole()
            return [self._gradient_step(step, given, named, step.cotangents)]
        sent = []
        for piece in self._pieces():
            rows = functools.partial(self._rows, piece)
            cotangents = [None if one is None else mapped(one, rows) for one in step.cotangents]
            given, named = self._convention.arguments(self._cut(piece))
            sent.append(self._gradient_step(step, given, named, cotangents))
        return sent

    def _gradient_step(
        self, step: Gradients, given: Sequence[Value], named: Mapping[str, Value],
        cotangents: Sequence[Floats | Tensor | None],
    ) -> Gradients:  # fmt: skip
        convention = self._convention
        of = tuple(convention.sent_at(place, given, named) for place in step.of)
        return dataclasses.replace(
            step,
            arguments=tuple(given),
            keywords=named,
            of=of,
            cotangents=convention.cotangents(cotangents),
        )

    def _rows(self, piece: _Piece, array: Floats) -> Floats:
        """Return the rows of an output that a piece gives, as it gives them."""
        rows = array[(*(piece.items, piece.heads)[: len(self._leading)], piece.queries)]
        return rows if self._placement is None else self._placement.placed(rows)

    def gradients(self, answers: Sequence[Answer], count: int) -> Answer:
        """Put gradients of so many arguments into the brief's layout; those of weights follow."""
        first, *others = answers
        if not self._known:
            return first
        failed = next((answer for answer in answers if answer.raised is not None), None)
        if failed is not None:
            return failed
        pieces = list(self._pieces())
        outs = []
        for n, columns in enumerate(zip(*(answer.outs for answer in answers), strict=False)):
            if n < count:
                outs.append(self._sum_of_argument(n, pieces, columns))
            elif others and all(isinstance(one, Tensor) for one in columns):
                outs.append(_sum(columns))
            else:
                outs.append(columns[0])
        return dataclasses.replace(first, outs=tuple(outs))

    def _sum_of_argument(
        self, place: int, pieces: Sequence[_Piece], columns: Sequence[Output]
    ) -> Output:
        """Add the gradients that pieces give of one argument."""
        layout = AXIS_ORDERS[self._convention.layout]
        given = array_of(self._given[place])
        assert given is not None
        total = np.zeros(given.shape)
        for piece, out in zip(pieces, columns, strict=True):
            if not isinstance(out, Tensor):
                return out
            cut = (piece.items, piece.heads)[: len(self._leading)]
            lengths = zip(cut, self._leading, strict=True)
            leading = tuple(len(range(length)[part]) for part, length in lengths)
            array = layout.returned(out.values, 0, leading)
            rows = piece.queries if place == self._convention.places.query else slice(None)
            if self._placement is not None and place == self._convention.places.query:
                array = self._placement.taken(array, len(range(self._queries)[rows]))
            if total[(*cut, rows)].shape != array.shape:
                return out
            total[(*cut, rows)] += array
        first = columns[0]
        assert isinstance(first, Tensor)
        return Tensor(total.astype(first.values.dtype), first.dtype)

    def _mask(self) -> Floats | None:
        place = self._convention.places.mask
        given = self._given[place] if place is not None and place < len(self._given) else None
        mask = array_of(given)
        if mask is None and self._convention.mask_required:
            return np.ones((1,) * (len(self._leading) + 2), dtype=bool)
        if mask is None or mask.dtype.kind == "f":
            return None
        return np.asarray((mask != 0) ^ self._convention.blocking)

    def _pieces(self) -> Iterator[_Piece]:
        single = self._convention.layout == "single"
        axes = self._convention.mask.axes or self._axes
        counts = {"b": self._leading[0], "h": 1, "q": self._queries}
        if len(self._leading) > 1:
            counts["h"] = self._leading[1]
        ranges = []
        for letter in "bhq":
            apart = (letter == "b" and single) or (letter not in axes and self._varies(letter))
            if letter == "q" and self._placement is not None and not apart:
                ranges.append(self._placement.pieces(self._queries))
                continue
            numbers = range(counts[letter]) if apart and counts[letter] > 1 else [None]
            ranges.append([slice(None) if n is None else slice(n, n + 1) for n in numbers])
        for parts in itertools.product(*ranges):
            yield _Piece(*parts)

    def _varies(self, letter: str) -> bool:
        """Tell whether the mask differs along an axis."""
        if self._whole is None or letter not in self._axes:
            return False
        place = self._axes.index(letter)
        first = self._whole.take([0], place)
        return bool((self._whole != first).any())

    def _cut(self, piece: _Piece) -> list[Value]:
        """Return the brief's arguments of one piece, in the submission's form and layout."""
        convention, places = self._convention, self._convention.places
        layout = AXIS_ORDERS[convention.layout]
        values: list[Value] = list(self._given)
        rows = {place: slice(None) for place in (places.query, places.key, places.value)}
        rows[places.query] = piece.queries
        leading = (piece.items, piece.heads)[: len(self._leading)]
        order = self._order(piece)
        whole: dict[int, Value] = {}  #: id of an argument -> how it goes in, as one array again
        for place, row in rows.items():
            if place is None or place >= len(values):
                continue
            if row == slice(None) and order is None and id(self._given[place]) in whole:
                values[place] = whole[id(self._given[place])]
                continue

            def cut(array: Floats, place: int = place, row: slice = row) -> Floats:
                array = array[(*leading, row)]
                if order is not None and place != places.query:
                    array = np.take_along_axis(array, order[..., None], -2)
                if place == places.query and self._placement is not None:
                    array = self._placement.placed(array)
                return layout.given(array)

            values[place] = mapped(values[place], cut)
            if row == slice(None):
                whole[id(self._given[place])] = values[place]
        if self._separate and convention.sources < 2:
            self._put_together(values)
        if self._whole is not None and places.mask is not None:
            values += [None] * (places.mask + 1 - len(values))
            values[places.mask] = self._in_the_format_of_queries(self._written(piece))
        elif places.mask is not None and places.mask < len(values) and convention.layout != "batch":
            values[places.mask] = mapped(values[places.mask], self._floating)
        return values

    def _put_together(self, values: list[Value]) -> None:
        """Make one text of queries and keys, whose features do not overlap.

        Raises:
            NotOffered: there are no projections by which they could be told apart.
        """
        convention, places = self._convention, self._convention.places
        keys = array_of(values[places.key or 0])
        if not convention.layer or keys is None:
            raise NotOffered("second source")
        at = places.query or 0
        values[at] = mapped(values[at], lambda array: array + keys)

    def _floating(self, mask: Floats) -> Floats:
        """Lay out a floating mask, which is added, as the scores are."""
        layout = AXIS_ORDERS[self._convention.layout]
        whole = np.broadcast_to(mask, (*self._leading, self._queries, mask.shape[-1]))
        return layout.given(whole) if layout.masks_too else whole

    def _in_the_format_of_queries(self, mask: Value) -> Value:
        """Give a floating mask the queries' dtype where numpy does not have it."""
        query = self._given[self._convention.places.query or 0]
        if not isinstance(query, Tensor) or not isinstance(mask, np.ndarray):
            return mask
        return Tensor.rounded(mask, query.dtype) if mask.dtype.kind == "f" else mask

    def _written(self, piece: _Piece) -> Value:
        """Return the mask of a piece as the submission wants it."""
        assert self._whole is not None and self._raw is not None
        form, layout = self._convention.mask, AXIS_ORDERS[self._convention.layout]
        if not form.axes and self._convention.layout == "batch":
            meaning = "block" if self._convention.blocking else "keep"
            as_given = self._placement is None and self._has_mask
            if as_given and (form.meaning, form.kind) == (meaning, "bool"):
                return self._given[self._convention.places.mask or 0]  # as the brief has it
            return form.write(self._placed_mask(self._raw, piece), "", self._kind)
        cut = {"b": piece.items, "h": piece.heads, "q": piece.queries, "k": slice(None)}
        whole = self._whole[tuple(cut[letter] for letter in self._axes)]
        if self._placement is not None:
            whole = self._placement.placed(whole, fill=True)
        if self._convention.layout == "single":
            form = dataclasses.replace(form, axes=(form.axes or self._axes).replace("b", ""))
            return form.write(whole, self._axes, self._kind)
        written = form.write(whole, self._axes, self._kind)
        turned = layout.masks_too and form.meaning != "lengths"
        return layout.given(written) if turned else written

    def _placed_mask(self, mask: Floats, piece: _Piece) -> Floats:
        """Place the rows of a mask as the queries are placed; one row serves all."""
        if self._placement is None or mask.shape[-2] == 1:
            return mask
        return self._placement.placed(mask[..., piece.queries, :], fill=True)

    def _order(self, piece: _Piece) -> Floats | None:
        """Return the order of keys that puts the allowed ones first, where lengths are given."""
        if self._convention.mask.meaning != "lengths" or self._whole is None:
            return None
        cut = {"b": piece.items, "h": piece.heads, "q": piece.queries, "k": slice(None)}
        whole = self._whole[tuple(cut[letter] for letter in self._axes)]
        allowed = whole[..., 0, :]
        if allowed.ndim > len(self._leading) + 1:  # the heads are inside a layer
            allowed = allowed[:, 0]
        return np.argsort(~allowed, axis=-1, kind="stable")

    def _joined(self, pieces: Sequence[_Piece], column: Sequence[Output]) -> Output:
        arrays = [array_of(out) for out in column]
        one = column[0]
        if not isinstance(one, Tensor) or any(a is None or a.ndim < 2 for a in arrays):
            return one
        shape = (*self._leading, self._queries, arrays[0].shape[-1])  # type: ignore[union-attr]
        joined = np.zeros(shape, one.values.dtype)
        for piece, array in zip(pieces, arrays, strict=True):
            place = (*(piece.items, piece.heads)[: len(self._leading)], piece.queries)
            if array is None or joined[place].shape != array.shape:
                return one
            joined[place] = array
        return Tensor(joined, one.dtype)

    def _echo(self, answers: Sequence[Answer]) -> tuple[Output, ...]:
        """Return the arguments as the brief gave them, save those that a call changed."""
        after: list[Output] = [
            Tensor.of(value) if isinstance(value, np.ndarray) else value  # type: ignore[misc]
            for value in self._given
        ]
        for (sent, named), answer in zip(self.calls(), answers, strict=False):
            values = (*sent, *named.values())
            sent_and_echoed = zip(self._convention.order, values, answer.echo, strict=False)
            for place, before, now in sent_and_echoed:
                if place is not None and place < len(after) and not _equal(before, now):
                    after[place] = now
        return tuple(after)


def _sum(columns: Sequence[Output]) -> Output:
    tensors = [one for one in columns if isinstance(one, Tensor)]
    total = np.sum([one.values for one in tensors], axis=0)
    return Tensor(total, tensors[0].dtype)


def _broadcast(mask: Floats, whole: tuple[int, ...]) -> Floats:
    """Broadcast a mask to all axes: one of (B, Tq, Tk) or fewer has no axis of heads."""
    if mask.ndim == 3 and len(whole) == 4:
        mask = mask[:, None]
    return np.broadcast_to(mask, whole)


def _equal(before: Value, after: Output) -> bool:
    array = array_of(before)
    if array is None:
        return True
    return isinstance(after, Tensor) and np.array_equal(array, after.values, equal_nan=True)
