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
    """Calls of one entry point, and what can be read from their answers.

    ``even`` gives as many queries as keys, and values as wide as they: some code knows no other.
    """

    def __init__(
        self,
        point: EntryPoint,
        draw: Draw,
        dtype: str,
        sizes: tuple[Any, ...] | None = None,
        *,
        sources: int = 3,
        even: bool = False,
    ) -> None:
        self._point = point = dataclasses.replace(point, sizes=sizes or point.sizes)
        places = Places.of(point)
        layer = bool(point.constructor)
        self._leading = (BATCH, HEADS) if point.headed and not layer else (BATCH,)
        width = point.sizes[0] if layer else WIDTH
        self._queries = KEYS if even or sources == 1 else QUERIES
        self._width = point.sizes[-1] if layer and places.value == places.key else width
        values = WIDTH if even else VALUES
        self._width = values if not layer else self._width
        query = draw.normal(*self._leading, self._queries, width, dtype=dtype)
        key = query if sources == 1 else draw.normal(*self._leading, KEYS, width, dtype=dtype)
        value = draw.normal(*self._leading, KEYS, width if layer else values, dtype=dtype)
        given: dict[int | None, Value] = {places.query: query, places.key: key}
        given[places.value] = value if sources == 3 and places.value != places.key else key
        self._usual = given
        self._moving = [p for p in given if given[p] is given[places.value]]
        self._mask_at = places.mask
        #: Which keys are blocked, which of the allowed move, and which rows of out are compared.
        self._blocked, self._allowed, self._rows = BLOCKED, ALLOWED, slice(None)
        if sources == 1:
            self._blocked, self._allowed, self._rows = [0, 1], [2], slice(3, None)
        self.plain = self._given(None)
        self.masked = self._masked() if self._mask_at is not None else []

    def _given(self, mask: Floats | None, moved: Sequence[int] = ()) -> tuple[Value, ...]:
        """Return the arguments of one call, the values of some keys moved."""
        values = dict(self._usual)
        if moved:
            array = np.array(values[self._moving[0]])
            array[..., list(moved), :] += 3
            values.update(dict.fromkeys(self._moving, array))
        fixed = self._point.fixed
        last = 1 + max(place for place in (*values, *fixed) if place is not None)
        if mask is not None:
            last = (self._mask_at or 0) + 1
            values[self._mask_at] = mask
        return tuple(values.get(place, fixed.get(place)) for place in range(last))

    def _masked(self) -> list[tuple[Value, ...]]:
        """Return the calls with a mask: keeping all, whole, with values moved, in all shapes."""
        shapes = self._point.mask_shapes or ("",)
        blocked = [self._mask(shape, self._blocked) for shape in shapes]
        whole = blocked[-1]
        others = [self._given(mask) for mask in blocked[:-1]]
        moved = [self._given(whole, keys) for keys in (self._blocked, self._allowed)]
        return [self._given(self._mask(shapes[-1], [])), self._given(whole), *moved, *others]

    def _mask(self, shape: str, blocked: Sequence[int]) -> Floats:
        lengths = {"b": BATCH, "h": HEADS, "q": self._queries, "k": KEYS, "1": 1}
        mask = np.ones([lengths[letter] for letter in shape], dtype=bool)
        mask[..., list(blocked)] = False
        return ~mask if self._point.blocking else mask

    def by_plain_calls(
        self, named: Iterable[Convention], session: Session
    ) -> list[ConventionTrial]:
        """Try conventions in every layout by a call without a mask; all are sent.

        Where a mask must be given, one that keeps all is, in every form.
        """
        axis_orders = HEADED if len(self._leading) > 1 else PLAIN
        if self._point.constructor:
            axis_orders = ("batch", "time-first")
        tried = [
            dataclasses.replace(one, layout=layout, mask=form)
            for one, layout in itertools.product(named, axis_orders)
            for form in (forms(one.mask, self._point.headed) if one.mask_required else [one.mask])
        ]
        return self._tried(tried, [self.plain], session)

    def by_masks(self, known: Convention, session: Session) -> list[ConventionTrial]:
        """Try every form of a mask with a convention; all are sent."""
        tried = [
            dataclasses.replace(known, mask=form) for form in forms(known.mask, self._point.headed)
        ]
        return self._tried(tried, [self.plain, *self.masked], session)

    def is_causal(self, known: Convention, session: Session) -> bool:
        """Tell whether no row of out sees a later key, however it is called."""
        later = [n for n in range(KEYS) if n >= 3]
        (trial,) = self._tried([known], [self.plain, self._given(None, later)], session)
        place, _ = self.outputs(trial.answers[0])
        outs = [a.outs[place] for a in trial.answers if place is not None and place < len(a.outs)]
        arrays = [out.values.astype(np.float64) for out in outs if isinstance(out, Tensor)]
        if len(arrays) < 2 or arrays[0].shape != arrays[1].shape:
            return False
        before, after = arrays
        return _near(before[..., :3, :], after[..., :3, :]) and not _near(before, after)

    def as_asked(self, known: Convention, session: Session) -> ConventionTrial:
        """Try the first convention, plain and masked."""
        masked = self.masked if known.places.mask in known.order else []
        (trial,) = self._tried([known], [self.plain, *masked], session)
        return trial

    def _tried(
        self,
        tried: Sequence[Convention],
        calls: Sequence[tuple[Value, ...]],
        session: Session,
    ) -> list[ConventionTrial]:
        """Make calls under each of some conventions, with one object for each way of making it."""
        point = self._point
        steps: list[Step] = []
        made: dict[tuple[Any, ...], Handle] = {}
        backs = []
        for convention in tried:
            maker = (convention.name, convention.constructor)
            if point.constructor and maker not in made:
                made[maker] = Handle(FIRST_OBJECT + len(made))
                given, named = convention.made_with(point.sizes)
                steps += [
                    Construct(
                        object=made[maker], name=convention.name, arguments=given, keywords=named
                    ),
                    Mode(object=made[maker], training=False),
                ]
            adapting = AdaptingSession(session, {point.name: convention}, {})
            for arguments in calls:
                sent, back = adapting.translated(Call(name=point.name, arguments=arguments))
                if point.constructor:
                    asked = (one for one in sent if isinstance(one, Call))
                    sent = [dataclasses.replace(one, name="", object=made[maker]) for one in asked]
                backs.append((len(steps), len(sent), back))
                steps += sent
        frames = (steps[n : n + FRAME] for n in range(0, len(steps), FRAME))
        answers = [one for frame in frames for one in session.exchange(frame)]
        self.raised = next((one.raised for one in answers if one.raised is not None), None)
        found = [back(answers[first : first + count]) for first, count, back in backs]
        each = len(calls)
        return [
            ConventionTrial(convention, found[n * each : (n + 1) * each])
            for n, convention in enumerate(tried)
        ]

    def outputs(self, answer: Answer) -> tuple[int | None, int | None]:
        """Return where out and weights are among an answer's outputs, by their shapes."""
        shapes = [out.values.shape if isinstance(out, Tensor) else None for out in answer.outs]
        out = self._place(shapes, self._width)
        others = [None if place == out else shape for place, shape in enumerate(shapes)]
        return out, self._place(others, KEYS)

    def _place(self, shapes: Sequence[Any], width: int) -> int | None:
        wanted = (*self._leading, self._queries, width)
        # A layout with time first turns its first output round, whichever that is.
        turned = (wanted[1], wanted[0], *wanted[2:])
        return next((n for n, shape in enumerate(shapes) if shape in (wanted, turned)), None)

    def works(self, trial: ConventionTrial) -> bool:
        """Tell whether out has the shape that is asked for, without a mask."""
        return self.outputs(trial.answers[0])[0] is not None

    def takes_masks(self, trial: ConventionTrial) -> bool:
        """Tell whether masks of a form are taken, and one that keeps all changes nothing."""
        compared = self._compared(trial)
        return compared is not None and (len(compared) < 2 or _near(*compared[:2]))

    def masks_consistently(self, trial: ConventionTrial) -> bool:
        """Tell whether blocked keys have no influence on out, and allowed ones have.

        A mask that keeps all changes nothing: a reading under which it does is none.
        """
        compared = self._compared(trial)
        if compared is None or len(compared) < 2:
            return compared is not None
        bare, keeping, plain, blocked, allowed, *shapes = compared
        still = _near(bare, keeping) and all(_near(plain, other) for other in (blocked, *shapes))
        return still and not np.allclose(plain, allowed, rtol=1e-3, atol=1e-3, equal_nan=True)

    def _compared(self, trial: ConventionTrial) -> list[Floats] | None:
        """Return the rows that are compared, of out in each call; None where one gives no out."""
        place, _ = self.outputs(trial.answers[0])
        outs = [a.outs[place] for a in trial.answers if place is not None and place < len(a.outs)]
        arrays = [out.values.astype(np.float64) for out in outs if isinstance(out, Tensor)]
        if len(arrays) < len(trial.answers) or len({array.shape for array in arrays}) > 1:
            return None
        return [array[..., self._rows, :] for array in arrays] if len(arrays) > 1 else arrays


def _near(one: Floats, other: Floats) -> bool:
    return np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
