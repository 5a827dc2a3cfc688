import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.candidate.session import DirectSession
from harness.errors import CandidateRaised
from harness.protocol import (
    OUTPUTS_CAP,
    Answer,
    Call,
    Construct,
    Cost,
    Gradients,
    Handle,
    Mode,
    Opaque,
    Parameters,
    SetParameters,
    Tensor,
    Unsupported,
    decode,
    encode,
    to_bfloat16,
)
from harness.worker import wire

DTYPES = sorted(set(wire.DTYPES) - {"bf2"})
Q = np.arange(6.0).reshape(2, 3)


def same(value):
    return value


def echoed(value):
    """What a function that returns its argument gives."""
    session = DirectSession({"same": same}, arrays="numpy")
    (answer,) = session.exchange([Call(name="same", arguments=(value,))])
    return answer.outs[0] if answer.outs else None


def received(*entries, payload=b""):
    return decode({"answers": list(entries)}, memoryview(payload), len(entries))


def one(value, payload=b""):
    (answer,) = received({"form": "single", "outs": [value]}, payload=payload)
    return answer.outs[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_of_every_dtype_arrives_as_it_was_sent(dtype):
    sent = np.array([[0, 1, 2], [3, 1, 0]]).astype(wire.DTYPES[dtype])
    out = echoed(sent)
    assert out.dtype == dtype
    assert out.values.dtype == sent.dtype
    assert np.array_equal(out.values, sent)


@given(arrays.arrays(st.sampled_from([wire.DTYPES[code] for code in DTYPES]),
                     arrays.array_shapes(min_dims=0, min_side=0)))  # fmt: skip
def test_any_array_arrives_bit_for_bit(sent):
    out = echoed(sent)
    assert out.values.shape == sent.shape
    assert out.values.tobytes() == sent.tobytes()


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
@example([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45, 3.4e38])
def test_bfloat16_goes_as_the_nearest_sixteen_bits_and_comes_back_as_they_are(numbers):
    torch = pytest.importorskip("torch")
    values = np.array(numbers, np.float32)
    finite = np.isfinite(values)
    rounded = torch.from_numpy(values.copy()).bfloat16().float().numpy()
    sent = Tensor.rounded(values, "bf2")
    assert np.array_equal(sent.values[finite], rounded[finite])
    again = wire.bfloat16_to_float32(to_bfloat16(sent.values))
    assert np.array_equal(again[finite], sent.values[finite])


def test_a_bfloat16_tensor_is_one_in_torch_and_comes_back():
    torch = pytest.importorskip("torch")
    seen = []
    session = DirectSession({"f": lambda x: seen.append(x.dtype) or x * 2}, arrays="torch")
    sent = Tensor.rounded(Q, "bf2")
    (answer,) = session.exchange([Call(name="f", arguments=(sent,))])
    assert seen == [torch.bfloat16]
    assert answer.outs[0].dtype == "bf2"
    assert np.array_equal(answer.outs[0].values, 2 * sent.values)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_rounding_to_a_dtype_keeps_what_fits(dtype):
    tensor = Tensor.rounded(Q + 1 / 3, dtype)
    assert tensor.dtype == dtype
    assert np.array_equal(tensor.values, (Q + 1 / 3).astype(wire.DTYPES[dtype]))


def test_a_big_endian_array_arrives_with_the_same_numbers():
    out = echoed(Q.astype(">f8"))
    assert np.array_equal(out.values, Q)


def test_a_transposed_tensor_has_its_values_and_is_not_contiguous():
    seen = []
    session = DirectSession({"f": lambda x: seen.append(x) or x}, arrays="numpy")
    (answer,) = session.exchange([Call(name="f", arguments=(Tensor(Q, "f8", transposed=True),))])
    assert not seen[0].flags.c_contiguous
    assert np.array_equal(answer.outs[0].values, Q)


@pytest.mark.parametrize("value", [None, True, False, 0, -7, 2**63 - 1, 1.5, -0.0, "text", "√d"])
def test_a_plain_value_arrives_as_it_was_sent(value):
    out = echoed(value)
    assert out == value
    assert type(out) is type(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_arrives(value):
    out = echoed(value)
    assert str(out) == str(value)


def test_received_arrays_cannot_be_written_to():
    out = echoed(Q)
    with pytest.raises(ValueError, match="read-only"):
        out.values[0, 0] = 1


def test_keywords_echoes_and_kept_objects_are_in_the_header():
    step = Call(name="f", arguments=(Q,), keywords={"mask": None}, echo=True, keep={1: Handle(4)})
    (entry,), blobs = encode([step])
    assert entry == {
        "do": "call",
        "name": "f",
        "arguments": [{"k": "array", "dtype": "f8", "shape": [2, 3]}],
        "keywords": {"mask": {"k": "none"}},
        "echo": True,
        "keep": {"1": 4},
    }
    assert blobs == [Q.tobytes()]


def test_the_arrays_of_all_steps_are_sent_in_order():
    steps = [
        Construct(object=Handle(1), name="A", arguments=(8, Q)),
        SetParameters(Handle(1), {"w": Q + 1, "b": Q + 2}),
        Mode(object=Handle(1), training=False),
        Parameters(Handle(1)),
        Call(object=Handle(1), arguments=(Q + 3,), keywords={"mask": Q + 4}),
        Gradients(name="f", arguments=(Q + 5,), cotangents=(Q + 6, None), of=(0,)),
        Cost(object=Handle(1), arguments=(Q + 7,)),
    ]
    entries, blobs = encode(steps)
    assert [entry["do"] for entry in entries] == [
        "construct", "set", "mode", "parameters", "call", "gradients", "cost",
    ]  # fmt: skip
    assert [np.frombuffer(blob)[0] for blob in blobs] == list(range(8))
    assert json.loads(json.dumps(entries, allow_nan=False)) == entries


def test_what_cannot_cross_is_an_error_of_the_check():
    with pytest.raises(TypeError, match="argument is a object, expected an array"):
        encode([Call(name="f", arguments=(object(),))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("returned", "form", "count"),
    [
        (None, "nothing", 0),
        (Q, "single", 1),
        ((Q, Q), "tuple", 2),
        ([Q, None], "list", 2),
        ({"out": Q}, "dict", 1),
        ([[1, 2], [3, 4]], "single", 1),
    ],
)
def test_the_form_of_what_was_returned_is_known(returned, form, count):
    session = DirectSession({"f": lambda: returned}, arrays="numpy")
    (answer,) = session.exchange([Call(name="f")])
    assert (answer.form, len(answer.outs)) == (form, count)


def test_an_answer_that_raised_carries_words_and_the_steps_after_it_still_answer():
    def f(fail):
        if fail:
            raise KeyError("no\x1bkey")
        return 1

    session = DirectSession({"f": f}, arrays="numpy")
    bad, good = session.exchange([Call(name="f", arguments=(flag,)) for flag in (True, False)])
    assert type(bad.raised) is CandidateRaised
    assert bad.raised.kind == "KeyError"
    assert "\x1b" not in bad.raised.message
    assert good.outs == (1,)


def test_objects_and_other_dtypes_are_described_and_not_sent():
    session = DirectSession(
        {"f": lambda: (object(), np.ones(2, complex), np.array(["a"]))}, arrays="numpy"
    )
    (answer,) = session.exchange([Call(name="f")])
    kind, numbers, texts = answer.outs
    assert kind == Opaque("object")
    assert numbers == Unsupported("complex128", (2,))
    assert isinstance(texts, Unsupported)


ARRAY = {"k": "array", "dtype": "f8", "shape": [1]}
EIGHT = bytes(8)


@pytest.mark.parametrize(
    ("entries", "payload"),
    [
        pytest.param(None, b"", id="no answers"),
        pytest.param({}, b"", id="answers that are no list"),
        pytest.param([], b"", id="too few answers"),
        pytest.param([{}, {}], b"", id="too many answers"),
        pytest.param([7], b"", id="an answer that is a number"),
        pytest.param([{"outs": {}}], b"", id="outs that are no list"),
        pytest.param([{"outs": [7]}], b"", id="an out that is a number"),
        pytest.param([{"outs": [{"k": "none"}] * (OUTPUTS_CAP + 1)}], b"", id="too many outs"),
        pytest.param([{"echo": [{"k": "none"}] * (OUTPUTS_CAP + 1)}], b"", id="too many echoes"),
        pytest.param([{"outs": [{"k": "pickle", "v": "gASV"}]}], b"", id="an unknown kind"),
        pytest.param([{"outs": [{"k": ["array"]}]}], b"", id="a kind that is a list"),
        pytest.param([{"outs": [{"k": "object", "v": 1}]}], b"", id="a handle"),
        pytest.param([{"outs": [{"k": "int", "v": True}]}], b"", id="an int that is a bool"),
        pytest.param([{"outs": [{"k": "int", "v": 1 << 63}]}], b"", id="an int of 64 bits"),
        pytest.param([{"outs": [{"k": "int", "v": 10**400}]}], b"", id="an endless int"),
        pytest.param([{"outs": [{"k": "float", "v": 10**400}]}], b"", id="an endless float"),
        pytest.param([{"outs": [{"k": "float", "v": "1.0"}]}], b"", id="a float in words"),
        pytest.param([{"outs": [{"k": "bool", "v": 1}]}], b"", id="a bool that is an int"),
        pytest.param([{"outs": [{"k": "str", "v": 1}]}], b"", id="a text that is an int"),
        pytest.param([{"form": "set"}], b"", id="an unknown form"),
        pytest.param([{"form": ["single"]}], b"", id="a form that is a list"),
        pytest.param([{"names": ["a", 1]}], b"", id="a name that is a number"),
        pytest.param([{"names": "ab"}], b"", id="names that are one text"),
        pytest.param([{"raised": "KeyError"}], b"", id="raised that is a text"),
        pytest.param([{"raised": {}, "outs": [ARRAY]}], EIGHT, id="raised, and arrays"),
        pytest.param([{"outs": [ARRAY]}], b"", id="an array without its bytes"),
        pytest.param([{"outs": [ARRAY]}], bytes(7), id="an array short of a byte"),
        pytest.param([{"outs": [ARRAY]}], bytes(9), id="a byte too many"),
        pytest.param([{"outs": [ARRAY | {"dtype": "O"}]}], EIGHT, id="objects"),
        pytest.param([{"outs": [ARRAY | {"dtype": "c16"}]}], bytes(16), id="complex numbers"),
        pytest.param([{"outs": [ARRAY | {"dtype": ["f8"]}]}], EIGHT, id="a dtype that is a list"),
        pytest.param([{"outs": [ARRAY | {"shape": [-1]}]}], EIGHT, id="a negative length"),
        pytest.param([{"outs": [ARRAY | {"shape": [True]}]}], EIGHT, id="a length that is a bool"),
        pytest.param([{"outs": [ARRAY | {"shape": [1.0]}]}], EIGHT, id="a length that is a float"),
        pytest.param([{"outs": [ARRAY | {"shape": 1}]}], EIGHT, id="a shape that is a number"),
        pytest.param([{"outs": [ARRAY | {"shape": [1] * 9}]}], EIGHT, id="nine dimensions"),
        pytest.param([{"outs": [ARRAY | {"shape": [2**32, 2**32]}]}], b"", id="a product of 2^64"),
        pytest.param([{"outs": [ARRAY | {"shape": [0, 2**62]}]}], b"", id="empty and enormous"),
        pytest.param(
            [{"outs": [{"k": "unsupported", "dtype": "c16", "shape": ["2"]}]}],
            b"",
            id="a shape in words",
        ),
        pytest.param(
            [{"outs": [{"k": "unsupported", "dtype": "c16", "shape": [10**99]}]}],
            b"",
            id="an endless shape",
        ),
    ],
)
def test_what_is_not_an_answer_to_the_step_is_a_wire_error(entries, payload):
    with pytest.raises(wire.WireError):
        decode({"answers": entries}, memoryview(payload), 1)


def test_an_answer_that_raised_takes_no_array_of_the_next_one():
    bad, good = received(
        {"raised": {"type": "E"}, "outs": [ARRAY | {"dtype": "bf2", "shape": [4]}]},
        {"form": "single", "outs": [ARRAY]},
        payload=np.array([7.0]).tobytes(),
    )
    assert bad.raised is not None
    assert bad.outs == ()
    assert good.outs[0].values.tolist() == [7.0]


def test_a_byte_that_is_no_bool_is_true_like_any_other():
    out = one({"k": "array", "dtype": "b1", "shape": [3]}, bytes([0, 1, 255]))
    assert out.values.tolist() == [False, True, True]
    assert (out.values == 1).sum() == 2


def test_texts_of_the_candidate_arrive_short_and_safe():
    assert one({"k": "str", "v": "\x1b[2J"}) == "<U+001B>[2J"
    assert len(one({"k": "str", "v": "x" * 60_000})) <= 1024
    assert one({"k": "opaque", "type": "evil\u202e"}) == Opaque("evil<U+202E>")
    assert one({"k": "opaque", "type": 7}) == Opaque("")


@pytest.mark.parametrize("line", [0, -3, 10**12, True, "3", 2.0, None])
def test_a_line_number_that_cannot_be_one_is_left_out(line):
    (answer,) = received({"raised": {"type": "E", "message": "m", "line": line}})
    assert answer.raised.line is None


def test_what_was_raised_is_words_whatever_it_calls_itself():
    (answer,) = received({"raised": {"type": "pytest.skip.Exception", "message": ["x"], "line": 3}})
    assert type(answer.raised) is CandidateRaised
    assert str(answer.raised) == "pytest.skip.Exception (line 3)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["array", "none", "int", "float", "f8", "bf2", "b1", "nan", "single"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["k", "v", "dtype", "shape", "outs", "echo", "names", "form", "raised",
                         "type", "message", "line"]),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(JSON, max_size=3), st.binary(max_size=32), st.integers(0, 3))
def test_any_header_gives_answers_or_a_wire_error(entries, payload, steps):
    try:
        answers = decode({"answers": entries}, memoryview(payload), steps)
    except wire.WireError:
        return
    assert len(answers) == steps
    assert all(isinstance(answer, Answer) for answer in answers)


VALUE = st.fixed_dictionaries(
    {"k": st.sampled_from(["array", "none", "bool", "int", "float", "str", "opaque", "object"])},
    optional={
        "v": JSON,
        "dtype": st.sampled_from([*wire.DTYPES, "O"]),
        "shape": st.lists(st.integers(-1, 3), max_size=3),
        "type": JSON,
    },
)
ENTRY = st.fixed_dictionaries(
    {}, optional={"form": st.sampled_from(["single", "tuple", "x"]), "outs": st.lists(VALUE),
                  "echo": st.lists(VALUE), "raised": JSON, "names": JSON}
)  # fmt: skip


@given(st.lists(ENTRY, min_size=1, max_size=3), st.binary(max_size=64))
def test_anything_close_to_an_answer_gives_answers_or_a_wire_error(entries, payload):
    try:
        answers = received(*entries, payload=payload)
    except wire.WireError:
        return
    for answer in answers:
        for out in (*answer.outs, *answer.echo):
            if isinstance(out, Tensor):
                held = "f4" if out.dtype == "bf2" else out.dtype
                assert wire.dtype_code(out.values.dtype) == held
