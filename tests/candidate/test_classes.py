"""A class of the submission: its parameters are found, whatever they are called."""

import pytest
import torch
from torch import nn

from harness.candidate.functions import Candidate
from harness.candidate.session import DirectSession
from harness.errors import CandidateRaised, CheckFailed
from harness.spec.draw import Draw
from specs import kv_cache, torch_multi_head, torch_single_head
from specs.torch_multi_head import SPEC

D, H = 12, 3
DRAW = Draw("seed", "modules")


def candidate(cls, spec=SPEC):
    (point,) = spec.entry_points
    return Candidate(spec, DirectSession({point.name: cls}, arrays="torch"))


def layers(cls, spec=SPEC):
    return spec.roles(candidate(cls, spec).entry_points("check"))["layers"]


def attend(q, k, v, heads, mask=None):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Plain(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.a, self.b, self.c, self.d = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        return self.d(attend(self.a(q), self.b(k), self.c(v), self.h))


class Shuffled(Plain):
    """The projections are made in another order than they are used in."""

    def forward(self, q, k, v, mask=None):
        return self.b(attend(self.d(q), self.a(k), self.c(v), self.h))


@pytest.mark.parametrize("cls", [Plain, Shuffled])
def test_projections_without_names_are_found_by_trial(cls, seeds):
    found = layers(cls)
    drawn = found.drawn(Draw(seeds[0], "trial"), smallest=1)
    for returned, call in zip(found.proxy.each(drawn), drawn, strict=True):
        expected = found.expected(*call)
        error = abs(returned["out"].values - expected.values)
        assert (error <= expected.roundoffs * 2.0**-24).all()


class Misnamed(nn.Module):
    """The projection called query projects the keys."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in "QKVO")

    def forward(self, q, k, v, mask=None):
        return self.out(attend(self.key(q), self.query(k), self.value(v), self.h))


@pytest.mark.parametrize(("trust_parameter_names", "held"), [(False, "W_K"), (True, "W_Q")])
def test_names_are_believed_without_a_trial_where_the_class_is_our_own(trust_parameter_names, held):
    one = candidate(Misnamed)
    one.known.trust_parameter_names = trust_parameter_names
    layer = SPEC.roles(one.entry_points("check"))["layers"].proxy.make(D, H)
    held_by = {slot.group.pattern: slot.holds for slot in layer.layout.slots}
    assert held_by["query.weight"] == (held,)


def test_projections_of_a_wrong_class_are_found_by_trying_known_mistakes():
    class Unscaled(Shuffled):
        def forward(self, q, k, v, mask=None):
            q = self.d(q) * (q.shape[-1] // self.h) ** 0.5
            return self.b(attend(q, self.a(k), self.c(v), self.h))

    one = candidate(Unscaled)
    SPEC.roles(one.entry_points("check"))["layers"].drawn(DRAW)
    assert one.known.conventions["projections"] == "d, a, c, b; with bias"


def test_what_was_found_is_a_convention():
    one = candidate(Plain)
    SPEC.roles(one.entry_points("check"))["layers"].drawn(DRAW)
    assert one.known.conventions == {"projections": "a, b, c, d; with bias"}


def test_names_of_parameters_are_made_safe_before_they_are_shown():
    class Sly(Plain):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            del self._modules["a"]
            self.add_module("a\u202e<b>\n", nn.Linear(d_model, d_model))

        def forward(self, q, k, v, mask=None):
            a = self._modules["a\u202e<b>\n"]
            return self.d(attend(a(q), self.b(k), self.c(v), self.h))

    one = candidate(Sly)
    SPEC.roles(one.entry_points("check"))["layers"].drawn(DRAW)
    assert "\u202e" not in one.known.conventions["projections"]
    assert "\n" not in one.known.conventions["projections"]


def test_a_constructor_that_wants_more_says_so_in_its_own_words():
    class Greedy(Plain):
        def __init__(self, d_model, num_heads, dropout):
            super().__init__(d_model, num_heads)

    with pytest.raises(CandidateRaised, match="missing 1 required positional argument: 'dropout'"):
        layers(Greedy).drawn(DRAW)


def test_a_class_without_parameters_is_told_where_they_belong():
    class Fresh(Plain):
        def __init__(self, d_model, num_heads):
            nn.Module.__init__(self)
            self.h, self.n = num_heads, d_model

        def forward(self, q, k, v, mask=None):
            return nn.Linear(self.n, self.n)(attend(q, k, v, self.h))

    with pytest.raises(CheckFailed, match="no parameters once it is made, expected projections"):
        layers(Fresh).drawn(DRAW)


def test_parameters_of_the_wrong_size_are_listed_with_what_was_expected():
    class Narrow(Plain):
        def __init__(self, d_model, num_heads):
            nn.Module.__init__(self)
            self.w = nn.Linear(d_model, 5)

    message = r"parameters w.weight \(5, 24\), w.bias \(5,\), expected projections Q \(24, 24\)"
    with pytest.raises(CheckFailed, match=message):
        layers(Narrow).drawn(DRAW)


def test_parameters_that_a_first_call_makes_are_known_as_late():
    class Lazy(Plain):
        def __init__(self, d_model, num_heads):
            nn.Module.__init__(self)
            self.h, self.n = num_heads, d_model

        def forward(self, q, k, v, mask=None):
            if not hasattr(self, "a"):
                Plain.__init__(self, self.n, self.h)
                self.n = q.shape[-1]
            return super().forward(q, k, v, mask)

    layer = layers(Lazy).proxy.make(D, H)
    assert "a.weight" in layer.late


def test_an_uninitialised_parameter_is_there_from_the_start():
    class Lazily(Plain):
        def __init__(self, d_model, num_heads):
            nn.Module.__init__(self)
            self.h = num_heads
            self.a, self.b, self.c, self.d = (nn.LazyLinear(d_model) for _ in range(4))

    layer = layers(Lazily).proxy.make(D, H)
    assert layer.late == ()
    assert len(layer.names) == 8


def test_an_object_is_in_evaluation_mode():
    class Dropping(Plain):
        def forward(self, q, k, v, mask=None):
            out = super().forward(q, k, v)
            return nn.functional.dropout(out, 0.5, self.training)

    found = layers(Dropping)
    call = found.drawn(DRAW, smallest=1)[0]
    first, second = found.proxy.each([call, call])
    assert (first["out"].values == second["out"].values).all()


def test_more_values_than_asked_for_are_noted_and_the_first_is_taken():
    class Generous(Plain):
        def forward(self, q, k, v, mask=None):
            return super().forward(q, k, v), torch.ones(1)

    one = candidate(Generous)
    found = SPEC.roles(one.entry_points("check"))["layers"]
    tuple(found.proxy.each(found.drawn(DRAW)))
    assert one.known.conventions["returns"].startswith("forward returns 2 values")


def test_many_readings_of_many_parameters_fit_into_frames():
    class Wide(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.h = num_heads
            self.w = nn.ParameterList(nn.Parameter(torch.randn(d_model, d_model)) for _ in range(4))
            self.more = nn.ParameterList(nn.Parameter(torch.zeros(3)) for _ in range(400))

        def forward(self, q, k, v, mask=None):
            return attend(q @ self.w[3], k @ self.w[0], v @ self.w[2], self.h) @ self.w[1]

    found = layers(Wide)
    drawn = found.drawn(DRAW, smallest=1)
    for returned, call in zip(found.proxy.each(drawn), drawn, strict=True):
        expected = found.expected(*call)
        assert (abs(returned["out"].values - expected.values) <= 1e-4).all()


def test_a_cache_goes_back_as_it_came():
    class Odd(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, x, cache=None):
            cache = object() if cache is None else cache
            self.seen = [*getattr(self, "seen", []), id(cache)]
            assert len(set(self.seen)) == 1
            return x, cache

    found = layers(Odd, kv_cache.SPEC)
    layer = found.proxy.drawn(DRAW, D, H)
    x = DRAW.normal(2, 3, D, dtype="f4")
    ((first, second),) = found.proxy.run_incrementally(layer, [[x, x]])
    assert (first["out"].values == second["out"].values).all()


def test_recorded_calls_carry_the_state_that_the_reference_needs():
    one = candidate(torch_single_head.SPEC.assemble(torch_single_head.ONE_HEAD)["OneHeadAttention"],
                    torch_single_head.SPEC)  # fmt: skip
    found = torch_single_head.SPEC.roles(one.entry_points("check"))["layers"]
    drawn = found.drawn(DRAW)
    found.proxy.each(drawn)
    expect = torch_single_head.SPEC.expect(torch_single_head.SPEC.reference)
    for recorded in one.recording:
        (expected,) = expect["OneHeadAttention"](*recorded.given)
        error = abs(recorded.answer.outs[0].values - expected.values)
        assert (error <= expected.roundoffs * 2.0**-24).all()


def test_the_layout_is_found_once_and_equal_objects_are_made_with_their_first_call():
    class Counted(Plain):
        made = 0

        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            Counted.made += 1

    one = candidate(Counted)
    for check in ("one", "two"):
        proxy = torch_multi_head.roles(one.entry_points(check))["layers"].proxy
        layer = proxy.make(D, H)
    assert Counted.made == 2  # one to learn the layout by, and that of the first check
    assert proxy.names_now(layer) == layer.names
    assert Counted.made == 3
