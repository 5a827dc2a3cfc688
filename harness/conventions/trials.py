"""The fixed preamble by which conventions of attention are found out.

For each order, each layout and each form of a mask: a call without a mask, and masked calls of
the same queries with different values. All of them are always sent, on inputs of their own, so
that what is sent never depends on what comes back. What they must show holds for wrong answers as
well: out has the shape that is asked for, does not move when a blocked value does, and moves when
an allowed one does.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate import Session
from harness.conventions.adapting_session import AdaptingSession
from harness.conventions.convention import HEADED, PLAIN, Convention, Places
from harness.conventions.mask_forms import forms
from harness.protocol import Answer, Call, Construct, Handle, Mode, Step, Tensor, Value
from harness.spec import Draw, EntryPoint

Floats = np.ndarray[Any, Any]

#: Lengths: all differ, so that a shape tells what an output is.
BATCH, HEADS, QUERIES, KEYS, WIDTH, VALUES = 2, 3, 5, 7, 6, 9
#: Keys that are blocked, the last ones, so that lengths can say it; and keys that are allowed.
BLOCKED, ALLOWED = [5, 6], [0, 4]
#: So many steps go in one frame: a header has 64 KiB.
FRAME: Final = 96
#: Numbers of objects: beyond those that checks use.
FIRST_OBJECT: Final = 1 << 40


@dataclasses.dataclass(frozen=True, slots=True)
class ConventionTrial:
    """A convention, and what came back under it."""

    convention: Convention
    answers: Sequence[Answer]


class ConventionTrials:
    """Calls of one entry point, and what can be read from their answers."""

    def __init__(
        self,
        point: EntryPoint,
        draw: Draw,
        dtype: str,
        sizes: tuple[Any, ...] | None = None,
        *,
        masks: bool = True,
    ) -> None:
        self._point = point = dataclasses.replace(point, sizes=sizes or point.sizes)
        places = Places.of(point)
        layer = bool(point.constructor)
        self._leading = (BATCH, HEADS) if point.headed and not layer else (BATCH,)
        width = point.sizes[0] if layer else WIDTH
        self._width = point.sizes[-1] if layer and places.value == places.key else width
        self._width = VALUES if not layer else self._width
        query = draw.normal(*self._leading, QUERIES, width, dtype=dtype)
        key = draw.normal(*self._leading, KEYS, width, dtype=dtype)
        value = draw.normal(*self._leading, KEYS, width if layer else VALUES, dtype=dtype)
        usual: dict[int | None, Value] = {places.query: query, places.key: key}
        self._apart = places.value is not None and places.value != places.key
        self._usual = usual | ({places.value: value} if self._apart else {})
        self._moving = places.value if self._apart else places.key
        self._mask_at = places.mask
        self._masks = masks
        self.calls = [self._given(None), *self._masked()]

    def _given(self, mask: Floats | None, moved: Sequence[int] = ()) -> tuple[Value, ...]:
        """Return the arguments of one call, the values of some keys moved."""
        values = dict(self._usual)
        if moved:
            array = np.array(values[self._moving])
            array[..., list(moved), :] += 3
            values[self._moving] = array
        last = len(self._point.parameters) if mask is None else (self._mask_at or 0) + 1
        if mask is None:
            last = 1 + max(place for place in values if place is not None)
        else:
            values[self._mask_at] = mask
        fixed = self._point.fixed
        return tuple(values.get(place, fixed.get(place)) for place in range(last))

    def _masked(self) -> list[tuple[Value, ...]]:
        """Return the calls with a mask: the whole, with values moved, and in all the shapes."""
        if self._mask_at is None or not self._masks:
            return []
        shapes = self._point.mask_shapes or ("",)
        blocked = [self._mask(shape) for shape in shapes]
        whole = blocked[-1]
        others = [self._given(mask) for mask in blocked[:-1]]
        moved = [self._given(whole, keys) for keys in (BLOCKED, ALLOWED)]
        return [self._given(whole), *moved, *others]

    def _mask(self, shape: str) -> Floats:
        lengths = {"b": BATCH, "h": HEADS, "q": QUERIES, "k": KEYS, "1": 1}
        mask = np.ones([lengths[letter] for letter in shape], dtype=bool)
        mask[..., BLOCKED] = False
        return ~mask if self._point.blocking else mask

    def run(self, named: Iterable[Convention], session: Session) -> list[ConventionTrial]:
        """Try every layout and form of a mask with each of some conventions; all are sent."""
        axis_orders = HEADED if len(self._leading) > 1 else PLAIN
        if self._point.constructor:
            axis_orders = ("batch", "time-first")
        trials = []
        for number, (one, layout) in enumerate(itertools.product(named, axis_orders)):
            tried = [
                dataclasses.replace(one, layout=layout, mask=form)
                for form in forms(one.mask, self._point.headed)
            ]
            answers = self._answers(tried, number, session)
            trials += [ConventionTrial(*pair) for pair in zip(tried, answers, strict=True)]
        return trials

    def _answers(
        self, tried: Sequence[Convention], number: int, session: Session
    ) -> list[list[Answer]]:
        """Make all calls under each of some conventions, in one exchange, with one object."""
        point, target = self._point, Handle(FIRST_OBJECT + number)
        steps: list[Step] = []
        if point.constructor:
            given, named = tried[0].made_with(point.sizes)
            name = tried[0].name
            steps = [
                Construct(object=target, name=name, arguments=given, keywords=named),
                Mode(object=target, training=False),
            ]
        made = len(steps)
        backs = []
        for convention in tried:
            adapting = AdaptingSession(session, {point.name: convention}, {})
            for arguments in self.calls:
                step = Call(name=point.name, arguments=arguments)
                sent, back = adapting.translated(step)
                if point.constructor:
                    calls = (one for one in sent if isinstance(one, Call))
                    sent = [dataclasses.replace(one, name="", object=target) for one in calls]
                steps += sent
                backs.append((len(sent), back))
        frames = (steps[n : n + FRAME] for n in range(0, len(steps), FRAME))
        answers = iter([one for frame in frames for one in session.exchange(frame)][made:])
        found = [back([next(answers) for _ in range(count)]) for count, back in backs]
        each = len(self.calls)
        return [found[n * each : (n + 1) * each] for n in range(len(tried))]

    def outputs(self, answer: Answer) -> tuple[int | None, int | None]:
        """Return where out and weights are among an answer's outputs, by their shapes."""
        shapes = [out.values.shape if isinstance(out, Tensor) else None for out in answer.outs]
        return self._place(shapes, self._width), self._place(shapes, KEYS)

    def _place(self, shapes: Sequence[Any], width: int) -> int | None:
        wanted = (*self._leading, QUERIES, width)
        # A layout with time first turns its first output round, whichever that is.
        turned = (wanted[1], wanted[0], *wanted[2:])
        return next((n for n, shape in enumerate(shapes) if shape in (wanted, turned)), None)

    def works(self, trial: ConventionTrial) -> bool:
        """Tell whether out has the shape that is asked for, without a mask."""
        return self.outputs(trial.answers[0])[0] is not None

    def masks_consistently(self, trial: ConventionTrial) -> bool:
        """Tell whether blocked keys have no influence on out, and allowed ones have."""
        place, _ = self.outputs(trial.answers[0])
        outs = [a.outs[place] for a in trial.answers if place is not None and place < len(a.outs)]
        arrays = [out.values.astype(np.float64) for out in outs if isinstance(out, Tensor)]
        if len(arrays) < len(self.calls) or len({array.shape for array in arrays}) > 1:
            return False
        if len(arrays) < 2:
            return True
        _, plain, blocked, allowed, *shapes = arrays
        still = all(_near(plain, other) for other in (blocked, *shapes))
        return still and not np.allclose(plain, allowed, rtol=1e-3, atol=1e-3, equal_nan=True)


def _near(one: Floats, other: Floats) -> bool:
    return np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
