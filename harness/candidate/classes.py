"""A class of the submission, as a check sees it: made, given weights, called.

The harness reads the candidate's own parameters, finds which hold what the reference learns
(``layout_search``, ``layout_trial``), and sets them. What is recorded of a call is in the
reference's terms, so that diagnosis can make it again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from harness.candidate.functions import (
    Arguments,
    EntryPointProxy,
    Returned,
    is_array,
    require_echo,
    require_gradients,
)
from harness.candidate.layer import GradientResult, Layer
from harness.candidate.separation import (
    SeparatedCall,
    Separation,
    Sources,
    fitted,
    joined,
    values_of,
)
from harness.candidate.weights import (
    Construction,
    LayoutTrial,
    Learned,
    State,
    WeightLayout,
    draw_weights,
    nameless_layouts,
    possible_layouts,
    rebuild_layout,
    unreadable,
)
from harness.errors import CheckFailed, NotOffered
from harness.protocol import (
    Answer,
    Call,
    Construct,
    Cost,
    Gradients,
    Handle,
    Mode,
    Parameters,
    Step,
    Tensor,
    Value,
)
from harness.spec import Draw

Floats = np.ndarray[Any, Any]

#: So many calls go in one frame, with the weights of each; a header has 64 KiB.
_PARTS_IN_A_FRAME: Final = 96
#: What every object of a class of layers has that is an nn.Module.
_MODULE_METHODS: Final = frozenset({"state_dict", "double", "float", "half", "bfloat16"})


class ClassProxy:
    """A class of the submission, as a check sees it."""

    def __init__(self, proxy: EntryPointProxy, construction: Construction) -> None:
        self._proxy = proxy
        self._construction = construction
        self._sources = Sources.of(proxy.point)
        self.name = proxy.point.name

    @property
    def form(self) -> int:
        """Which of the reference's right forms the class computes, once an object was made."""
        return self._proxy.known.forms.get(self.name, 0)

    @property
    def sources(self) -> int:
        """How many sources the class takes; one serves as several where the brief has more."""
        return min(self._sources.count, self._proxy.known.sources)

    def offered(self, made_of: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the sizes of what is made where a check asks for these."""
        return self._proxy.known.offered(made_of)

    def fitted(self, arguments: Arguments) -> Arguments:
        """Return a drawn call as one that the class can make: with its sources and its masks."""
        known = self._proxy.known
        if not self._sources.places or (
            self.sources == self._sources.count and known.masks and not known.causal
        ):
            return arguments
        return fitted(
            self._sources,
            arguments,
            self.sources,
            masks=known.masks,
            causal=known.causal,
            point=self._proxy.point,
        )

    def learned(self, *made_of: Any) -> tuple[Learned, ...]:
        """Return what an object made of these arguments learns."""
        return self._construction.learned(*made_of)

    def make(self, *made_of: Value) -> Layer:
        """Make an object and find its weights.

        One of the same sizes as an earlier one has its parameters, and is made with its first call.

        Raises:
            CandidateRaised: the constructor raised.
            CheckFailed: no reading of its parameters holds what the brief asks for.
        """
        made_of = self._proxy.known.offered(made_of)
        like = self._layout()
        if (twin := self._proxy.known.made.get((self.name, made_of))) is not None:
            number = self._reference()
            steps = self._made_by(number, made_of)
            return Layer(number.number, made_of, twin.layout, twin.parameters, (), steps)
        object_number, parameters, late, is_whole = self._construct(made_of)
        learned = self.learned(*made_of)
        layout = rebuild_layout(like.recipe, parameters, learned, like)
        if layout is None:
            found = possible_layouts(parameters, learned)
            if not found:
                raise CheckFailed(unreadable(self.name, parameters, learned))
            layout = found[0]
        layer = Layer(object_number, made_of, layout, parameters, late)
        if is_whole:
            self._proxy.known.made[self.name, made_of] = layer
        return layer

    def drawn(self, draw: Draw, *made_of: Value) -> Layer:
        """Make an object and give it weights of real size."""
        made_of = self._proxy.known.offered(made_of)
        layer = self.make(*made_of)
        layer.set(draw_weights(self.learned(*made_of), draw))
        return layer

    def each(self, calls: Iterable[tuple[Layer, Arguments]]) -> Iterator[Returned]:
        """Make independent calls in one exchange and return their outputs in order.

        What one of them raised is raised when its turn comes: what was wrong before it counts.
        """
        jobs = [(layer, self._call(layer, arguments)) for layer, arguments in calls]
        answers = self._run(jobs)
        for (layer, step), answer in zip(jobs, answers, strict=True):
            if self._is_as_asked(layer, step.arguments):
                self._proxy.record(step.arguments, answer, layer.state())
        return map(self._returned, answers)

    def echoing(self, layer: Layer, *arguments: Value) -> Returned:
        """Call an object once and have the arguments sent back as they are afterwards."""
        step = dataclasses.replace(self._call(layer, arguments), echo=True)
        (answer,) = self._run([(layer, step)])
        returned = self._returned(answer)
        require_echo(answer.echo, arguments)
        return returned

    def accepts(self, made_of: tuple[Value, ...], arguments: Arguments) -> bool:
        """Tell whether an object can be made and called that the brief wants refused.

        Who never saw the brief was not asked to.
        """
        if not self._proxy.known.saw_brief:
            return False
        number = self._reference()
        made = Construct(object=number, name=self.name, arguments=made_of)
        arguments = self.fitted(arguments)
        answers = self._proxy.send([made, Call(object=number, arguments=arguments)])
        return all(answer.raised is None for answer in answers)

    def gradients(self, layer: Layer, arguments: Arguments, cotangent: Floats) -> GradientResult:
        """Return the gradients of Σ out·cotangent."""
        separated = self._separation(layer, arguments)
        if separated is not None:
            return self._separated_gradients(layer, separated, cotangent)
        of = tuple(i for i, value in enumerate(arguments) if _is_floating(value))
        step = Gradients(
            object=layer.reference, arguments=arguments, cotangents=(cotangent,), of=of
        )
        (answer,) = self._run_parts([(layer, None, step)])
        if answer.raised is not None:
            raise answer.raised
        require_gradients(answer.outs[: len(of)], [arguments[place] for place in of])
        found, dtype = _weight_gradients(layer, answer, len(of))
        weights = {name: Tensor(values, dtype) for name, values in found.items()}
        return GradientResult(answer.outs[: len(of)], weights)

    def _separated_gradients(
        self, layer: Layer, separated: Separation, cotangent: Floats
    ) -> GradientResult:
        """Return gradients by those of the weights, which hold the sources."""
        parts = list(separated.parts())
        step = Gradients(object=layer.reference)
        jobs = [
            (
                layer,
                part,
                dataclasses.replace(
                    step, arguments=part.arguments, cotangents=(cotangent[part.items],)
                ),
            )
            for part in parts
        ]
        of_sources: dict[str, list[Floats]] = {name: [] for name in "QKV"}
        of_weights: dict[str, Floats] = {}
        dtype = "f4"
        for part, answer in zip(parts, self._run_parts(jobs), strict=True):
            if answer.raised is not None:
                raise answer.raised
            found, dtype = _weight_gradients(layer, answer, 0)
            if not {"W_Q", "W_K", "W_V"} <= found.keys():
                return GradientResult((None, None, None), {})
            sources, weights = separated.gradients(part, found)
            for name, gradient in sources.items():
                of_sources[name].append(gradient)
            of_weights = {name: of_weights.get(name, 0) + one for name, one in weights.items()}
        sources_joined = tuple(Tensor(np.concatenate(of_sources[name]), dtype) for name in "QKV")
        held = {name: Tensor(values, dtype) for name, values in of_weights.items()}
        return GradientResult(sources_joined, held)

    def run_incrementally(
        self, layer: Layer, prompts: Sequence[Sequence[Floats]], place: int = 1
    ) -> list[list[Returned]]:
        """Feed prompts to an object chunk by chunk, handing its cache on, in one exchange.

        The cache is output number ``place``; it goes back as it came, and a prompt starts with
        none.
        """
        jobs: list[tuple[Layer, Call]] = []
        states: list[State] = []
        for number, prompt in enumerate(prompts):
            cache: Value = None
            for chunk, x in enumerate(prompt):
                kept = self._reference()
                given: Arguments = (x,) if cache is None else (x, cache)
                step = dataclasses.replace(self._call(layer, given), keep={place: kept})
                jobs.append((layer, step))
                states.append(layer.state([*prompts[:number], prompt[:chunk]]))
                cache = kept
        answers = self._run(jobs)
        for (_, step), answer, state in zip(jobs, answers, states, strict=True):
            self._proxy.record(step.arguments[:1], answer, state)
        outputs = iter([self._returned(answer) for answer in answers])
        return [[next(outputs) for _ in prompt] for prompt in prompts]

    def cost(self, layer: Layer, prefix: Floats, x: Floats) -> int | None:
        """Return the floating-point operations of a step after a prefix, or None if not counted."""
        kept = self._reference()
        first = dataclasses.replace(self._call(layer, (prefix,)), keep={1: kept})
        step = Cost(object=layer.reference, arguments=(x, kept))
        begun, answer = self._run_parts([(layer, None, first), (layer, None, step)])
        for one in (begun, answer):
            if one.raised is not None:
                raise one.raised
        count = answer.outs[0] if len(answer.outs) == 1 else None
        return count if type(count) is int else None

    def registered(self, layer: Layer) -> frozenset[str]:
        """Return the names of all that torch saves and trains with the object."""
        step = Call(object=layer.reference, name="state_dict")
        (answer,) = self._run_parts([(layer, None, step)])
        self._require_done(step, answer)
        return frozenset(answer.names)

    def names_now(self, layer: Layer) -> tuple[str, ...]:
        """Return the names of the object's parameters as they are now."""
        (answer,) = self._run_parts([(layer, None, Parameters(layer.reference))])
        return answer.names

    def _call(self, layer: Layer, arguments: Arguments) -> Call:
        return Call(object=layer.reference, arguments=self._told_alike(arguments))

    def _told_alike(self, arguments: Arguments) -> Arguments:
        """Return equal sources as one array, for a class that takes fewer than the brief."""
        if self.sources == self._sources.count:
            return arguments
        given = list(arguments)
        for place in sorted(set(self._sources.places.values()))[1:]:
            for earlier in range(place):
                if np.array_equal(values_of(given[place]), values_of(given[earlier])):
                    given[place] = given[earlier]
        return tuple(given)

    def _returned(self, answer: Answer) -> Returned:
        if answer.raised is not None:
            raise answer.raised
        wanted, got = len(self._proxy.point.returns), len(answer.outs)
        if got > wanted:
            said = f"forward returns {got} values; the first is taken as out"
            self._proxy.known.conventions.setdefault("returns", said)
        return Returned(self._proxy.point, answer)

    def _is_as_asked(self, layer: Layer, arguments: Arguments) -> bool:
        """Tell whether a call is made as the reference makes it, so that mistakes show alike.

        What mixes positions, or items, mixes others where queries are filled up or items go alone.
        """
        separated, known = self._separation(layer, arguments), self._proxy.known
        if known.causal and self._sources.places:
            mask = arguments[self._sources.mask] if len(arguments) > self._sources.mask else None
            return separated is None and self._is_past(mask)
        return separated is None or separated.is_whole

    def _separation(self, layer: Layer, arguments: Arguments) -> Separation | None:
        """Return a call with its sources apart, or None where the class takes it as it is."""
        taken, known = self.sources, self._proxy.known
        if taken >= self._sources.count:
            return None
        if self._sources.alike(arguments, taken) and not known.causal:
            return None
        mask = arguments[self._sources.mask] if len(arguments) > self._sources.mask else None
        if self._sources.alike(arguments, taken) and self._is_past(mask):
            return None
        return Separation(self._sources, layer.layout, layer.weights, arguments)

    def _is_past(self, mask: Value) -> bool:
        """Tell whether a mask lets no query see a later key."""
        if mask is None:
            return False
        allowed = (values_of(mask) != 0) ^ self._proxy.point.blocking
        rows, keys = allowed.shape[-2:]
        return rows == keys and bool((allowed <= np.tri(keys, dtype=bool)).all())

    def _run(self, jobs: Sequence[tuple[Layer, Call]]) -> list[Answer]:
        """Make calls, each in as many parts as its sources need, and join their answers."""
        parts: list[tuple[Layer, SeparatedCall | None, Step]] = []
        counts = []
        for layer, step in jobs:
            separated = self._separation(layer, step.arguments)
            cut = [None] if separated is None else list(separated.parts())
            counts.append(len(cut))
            for part in cut:
                sent = step if part is None else dataclasses.replace(step, arguments=part.arguments)
                parts.append((layer, part, sent))
        answers = iter(self._run_parts(parts))
        sent_parts = iter(parts)
        whole = []
        for (_, step), count in zip(jobs, counts, strict=True):
            together = [(next(sent_parts), next(answers)) for _ in range(count)]
            if together[0][0][1] is None:
                whole.append(together[0][1])
            else:
                whole.append(joined(step, [(part[2], answer) for part, answer in together]))
        return whole

    def _run_parts(self, parts: Sequence[tuple[Layer, SeparatedCall | None, Step]]) -> list[Answer]:
        found: list[Answer] = []
        for start in range(0, len(parts), _PARTS_IN_A_FRAME):
            found += self._run_frame(parts[start : start + _PARTS_IN_A_FRAME])
        return found

    def _run_frame(self, parts: Sequence[tuple[Layer, SeparatedCall | None, Step]]) -> list[Answer]:
        steps: list[Step] = []
        places = []
        for layer, part, step in parts:
            steps += layer.pending()
            if part is not None:
                steps.append(layer.filled(part.weights))
                layer.restore()
            places.append(len(steps))
            steps.append(step)
        answers = self._proxy.send(steps)
        for place, (step, answer) in enumerate(zip(steps, answers, strict=True)):
            if place not in places:
                self._require_done(step, answer)
        return [answers[place] for place in places]

    def _require_done(self, step: Step, answer: Answer) -> None:
        """Raise what a step raised; who never saw the brief was not asked for an nn.Module."""
        if answer.raised is None:
            return
        of_module = isinstance(step, Call) and step.name in _MODULE_METHODS
        if of_module and answer.raised.kind == "AttributeError" and not self._proxy.known.saw_brief:
            raise NotOffered("nn.Module")
        raise answer.raised

    def _reference(self) -> Handle:
        return Handle(next(self._proxy.known.numbers))

    def _construct(
        self, made_of: tuple[Value, ...]
    ) -> tuple[int, dict[str, Floats], tuple[str, ...], bool]:
        """Make an object in evaluation mode.

        Returns its number, its parameters, the names of those that a first call brought about,
        and whether it had its parameters without one.
        """
        number = self._reference()
        made, mode, read = self._proxy.send([*self._made_by(number, made_of), Parameters(number)])
        for answer in (made, mode, read):
            if answer.raised is not None:
                raise answer.raised
        parameters = _arrays(read)
        is_whole = bool(parameters)
        if not is_whole:
            # Lazy layers have their parameters after a first call.
            drawn = self._construction.example(Draw("example", self.name), *made_of)
            example = self.fitted(drawn)
            call = Call(object=number, arguments=example)
            parameters = _arrays(self._proxy.send([call, Parameters(number)])[1])
        late = tuple(name for name in parameters if name not in read.names)
        return number.number, parameters, late, is_whole

    def _made_by(self, number: Handle, made_of: tuple[Value, ...]) -> list[Step]:
        """Return the steps that make an object in evaluation mode."""
        return [
            Construct(object=number, name=self.name, arguments=made_of),
            Mode(object=number, training=False),
        ]

    def _layout(self) -> WeightLayout:
        """Return where the class keeps its weights; found once for a submission."""
        found = self._proxy.known.layouts.get(self.name)
        if found is None:
            found = self._find_layout()
            self._proxy.known.layouts[self.name] = found
        if isinstance(found, str):
            raise CheckFailed(found)
        return found

    def _find_layout(self) -> WeightLayout | str:
        sizes = self._proxy.known.offered(self._construction.sizes)
        number, parameters, _, _ = self._construct(sizes)
        found = possible_layouts(parameters, self.learned(*sizes))
        if not found:
            return unreadable(self.name, parameters, self.learned(*sizes))
        if self._proxy.known.trust_parameter_names and found[0].is_named:
            return found[0]
        layout, which = self._try_layouts(found, parameters, number)
        self._proxy.known.forms[self.name] = which
        said = layout.describe()
        if form := self._construction.forms[self.form]:
            said += f"; {form}"
        if layout.missing:
            said += f"; nothing was found for {', '.join(layout.missing)}"
        self._proxy.known.conventions["projections"] = said
        return layout

    def _try_layouts(
        self, found: list[WeightLayout], parameters: dict[str, Floats], number: int
    ) -> tuple[WeightLayout, int]:
        """Return the layout that reproduces the reference, and which of its right forms.

        Names are a hint. Where they mislead, other readings are tried without them, and only one
        that reproduces the reference counts.
        """
        sizes = self._proxy.known.offered(self._construction.sizes)
        construction = dataclasses.replace(
            self._construction,
            sizes=sizes,  # type: ignore[arg-type]
            example=lambda *drawn: self.fitted(self._construction.example(*drawn)),
        )
        trial = LayoutTrial(self.name, construction, found)
        answers = self._answers_of(trial, number)
        fitting = trial.reproducing(answers)
        if fitting is None and found[0].is_named:
            nameless = nameless_layouts(parameters, self.learned(*sizes))
            other = LayoutTrial(self.name, construction, nameless)
            fitting = other.reproducing(self._answers_of(other, number)) if nameless else None
        return fitting or trial.choose(answers)

    def _answers_of(self, trial: LayoutTrial, number: int) -> list[Answer]:
        return [
            answer
            for steps in trial.frames(Handle(number))
            for answer in self._proxy.send(steps)[1::2]
        ]


def _weight_gradients(layer: Layer, answer: Answer, count: int) -> tuple[Mapping[str, Floats], str]:
    """Return gradients of what is learned, after so many of arguments, and their dtype."""
    shapes = {name: value.shape for name, value in layer.parameters.items()}
    tensors = {
        name: out
        for name, out in zip(answer.names[count:], answer.outs[count:], strict=False)
        if isinstance(out, Tensor) and out.values.shape == shapes.get(name)
    }
    found = layer.layout.read({name: out.values for name, out in tensors.items()})
    return found, next((out.dtype for out in tensors.values()), "f4")


def _arrays(answer: Answer) -> dict[str, Floats]:
    return {
        name: out.values
        for name, out in zip(answer.names, answer.outs, strict=False)
        if isinstance(out, Tensor)
    }


def _is_floating(value: object) -> bool:
    values = value.values if isinstance(value, Tensor) else value
    return is_array(value) and np.asarray(values).dtype.kind == "f"
