import numpy as np
import pytest

from harness.protocol import (
    Call,
    Construct,
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
)
from harness.worker import wire
from harness.worker.session import CallRunner

CAP = 1 << 20


@pytest.fixture
def run(load):
    """Loads a source and answers steps, through the bytes that would cross the wall."""

    def run_steps(source, *steps, arrays="numpy"):
        torch = None
        if arrays == "torch":
            import torch
        session = CallRunner(load(source, arrays=arrays), CAP, torch)
        entries, blobs = encode(steps)
        header, out = session.run({"id": "", "steps": entries}, memoryview(b"".join(blobs)))
        return decode(header, memoryview(b"".join(out)), len(steps))

    return run_steps


def returned(run, expression, arrays="numpy"):
    """The outputs of a function that returns ``expression``."""
    libraries = "import numpy as np" + ("\nimport torch" if arrays == "torch" else "")
    (answer,) = run(f"{libraries}\ndef f(): return {expression}", Call(name="f"), arrays=arrays)
    assert answer.raised is None, answer.raised
    return answer


VALUES = [
    ("None", "nothing", ()),
    ("(1, True, 2.5, 'x', None)", "tuple", (1, True, 2.5, "x", None)),
    ("float('inf')", "single", (float("inf"),)),
    ("{'a': 1, 2: 3}", "dict", (1, 3)),
    ("[None, 'x']", "list", (None, "x")),
    ("10 ** 400", "single", (Opaque("int"),)),
    ("object()", "single", (Opaque("object"),)),
    ("'x' * 1000", "single", (Opaque("str"),)),
    ("(1, (2, 3))", "tuple", (1, Opaque("tuple"))),
    ("(i for i in [1])", "single", (Opaque("generator"),)),
    ("tuple(range(100_000))", "single", (Opaque("tuple"),)),
    ("np.ma.masked_array([1.0], mask=[True])", "single", (Opaque("numpy.ma.MaskedArray"),)),
    ("np.zeros(2, complex)", "single", (Unsupported("complex128", (2,)),)),
    ("np.array([object()])", "single", (Unsupported("object", (1,)),)),
    ("np.zeros((1,) * 9)", "single", (Unsupported("f8", (1,) * 8),)),
    ("np.zeros(1 << 20)", "single", (Unsupported("f8", (1 << 20,)),)),
]


@pytest.mark.parametrize(("expression", "form", "outs"), VALUES)
def test_what_is_returned_crosses_as_plain_data_or_as_the_name_of_its_type(
    run, expression, form, outs
):
    answer = returned(run, expression)
    assert (answer.form, answer.outs) == (form, outs)


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("[[1.0, 2.0], [3.0, 4.0]]", [[1.0, 2.0], [3.0, 4.0]]),
        ("[1, 2]", [1, 2]),
        ("np.float32(2.5)", 2.5),
        ("np.arange(6).reshape(2, 3)[:, ::-1].T", [[2, 5], [1, 4], [0, 3]]),
        ("np.array([1.5], '>f8')", [1.5]),
        ("np.zeros((0, 3))", []),
    ],
)
def test_arrays_and_nested_lists_of_numbers_cross_with_their_values(run, expression, values):
    (out,) = returned(run, expression).outs
    assert out.values.tolist() == values


def test_the_keys_of_a_dictionary_are_its_names(run):
    assert returned(run, "{'out': 1, 'weights': 2}").names == ("out", "weights")


class Odd:
    source = (
        "class Everything:\n"
        " def __eq__(self, other): return True\n"
        " def __array__(self, *a, **k): raise SystemExit\n"
        " __class__ = property(lambda self: float)\n"
        "def f(): return Everything()\n"
    )


def test_an_object_that_pretends_to_be_a_number_is_opaque(run):
    (answer,) = run(Odd.source, Call(name="f"))
    assert answer.outs == (Opaque("answer.Everything"),)


def test_arguments_are_fresh_writable_and_laid_out_as_asked(run):
    values = np.arange(24.0).reshape(2, 3, 4)
    (plain, turned) = run(
        "def f(x):\n x += 1\n return x.flags.c_contiguous, x.strides[-1], x",
        Call(name="f", arguments=(values,)),
        Call(name="f", arguments=(Tensor(values, "f8", transposed=True),)),
    )
    assert plain.outs[:2] == (True, 8) and turned.outs[:2] == (False, 24)
    assert np.array_equal(turned.outs[2].values, values + 1)


def test_an_echo_shows_the_arguments_after_the_call(run):
    (answer,) = run(
        "def f(x, y):\n x[0] = 9\n",
        Call(name="f", arguments=(np.zeros(2),), keywords={"y": np.ones(1)}, echo=True),
    )
    assert [echo.values.tolist() for echo in answer.echo] == [[9.0, 0.0], [1.0]]


def test_what_is_kept_can_be_an_argument_later(run):
    cache = Handle(7)
    first, second = run(
        "def step(x, cache=None):\n cache = (cache or []) + [x]\n return len(cache), cache",
        Call(name="step", arguments=(1,), keep={1: cache}),
        Call(name="step", arguments=(2, cache)),
    )
    assert (first.outs[0], second.outs[0]) == (1, 2)


def test_a_name_that_is_not_there_is_raised_as_such(run):
    (answer,) = run("x = 1", Call(name="attention"))
    assert (answer.raised.kind, answer.raised.message) == (
        "NameError",
        "the submission does not define attention",
    )


def test_a_step_that_raises_takes_none_of_the_others_room(run):
    big = "def f(n): return np.zeros(n), 1 // (n - 120_000)"
    first, second = run(
        f"import numpy as np\n{big}",
        Call(name="f", arguments=(120_000,)),
        Call(name="f", arguments=(110_000,)),
    )
    assert first.raised.kind == "ZeroDivisionError"
    assert second.outs[0].values.shape == (110_000,)


def test_bfloat16_is_widened_for_numpy_and_exact_for_torch(run):
    sent = Tensor(np.array([1.0, -2.5], np.float32), "bf2")
    (answer,) = run("def f(x): return x, str(x.dtype)", Call(name="f", arguments=(sent,)))
    assert answer.outs[1] == "float32"
    (answer,) = run(
        "def f(x): return x * 2, str(x.dtype)", Call(name="f", arguments=(sent,)), arrays="torch"
    )
    assert answer.outs[1] == "torch.bfloat16"
    assert (answer.outs[0].dtype, answer.outs[0].values.tolist()) == ("bf2", [2.0, -5.0])


@pytest.mark.parametrize(
    ("expression", "out"),
    [
        ("torch.zeros(2, dtype=torch.complex64)", Unsupported("complex64", (2,))),
        ("torch.zeros(2).to_sparse()", Opaque("torch.Tensor")),
        ("torch.zeros(1).expand(1 << 40)", Unsupported("f4", (1 << 40,))),
        ("torch.zeros(1, dtype=torch.bfloat16).expand(1 << 40)", Unsupported("bf2", (1 << 40,))),
    ],
)
def test_a_tensor_that_cannot_cross_is_described(run, expression, out):
    assert returned(run, expression, arrays="torch").outs == (out,)


def test_a_tensor_with_a_gradient_crosses_as_values(run):
    (answer,) = run(
        "import torch\ndef f(x): return torch.nn.Parameter(x) * 2, torch.nn.Parameter(x)",
        Call(name="f", arguments=(np.ones(2, np.float32),)),
        arrays="torch",
    )
    assert [out.values.tolist() for out in answer.outs] == [[2.0, 2.0], [1.0, 1.0]]


MODULE = """
import torch
from torch import nn
class Heads(nn.Module):
    def __init__(self, d, heads=2):
        super().__init__()
        self.projections = [nn.Linear(d, d, bias=False) for _ in range(heads)]
        self.out = nn.Linear(d, d)
        self.shared = self.out
        self.raw = nn.Parameter(torch.ones(d))
        self.register_buffer("mask", torch.ones(d))
        self.dropout = nn.Dropout(0.5)
    def forward(self, x):
        return self.dropout(self.out(sum(p(x) for p in self.projections)) * self.raw)
    def name_of(self, x): return "method"
"""

HEADS = Handle(1)
MAKE = Construct(object=HEADS, name="Heads", arguments=(3,))
PARAMETERS = {"raw", "out.weight", "out.bias", "projections.0.weight", "projections.1.weight"}


def test_every_parameter_is_found_once_also_in_plain_lists(run):
    _, answer = run(MODULE, MAKE, Parameters(HEADS), arrays="torch")
    assert sorted(answer.names) == sorted(PARAMETERS)
    assert len(answer.outs) == len(PARAMETERS)


def test_parameters_take_new_values(run):
    new = {"raw": np.array([1.0, 2.0, 3.0]), "out.weight": np.eye(3)}
    *_, answer = run(MODULE, MAKE, SetParameters(HEADS, new), Parameters(HEADS), arrays="torch")
    values = dict(zip(answer.names, answer.outs, strict=True))
    assert values["raw"].values.tolist() == [1.0, 2.0, 3.0]
    assert values["out.weight"].dtype == "f4"


@pytest.mark.parametrize("new", [{"nothing": np.ones(3)}, {"raw": np.ones(4)}])
def test_a_parameter_that_does_not_fit_is_not_set(run, new):
    _, answer = run(MODULE, MAKE, SetParameters(HEADS, new), arrays="torch")
    assert answer.raised.kind == "ValueError"


def test_a_mode_is_that_of_the_module(run):
    x = np.ones((1, 3), np.float32)
    *_, first, second = run(
        MODULE,
        MAKE,
        Mode(object=HEADS, training=False),
        Call(object=HEADS, arguments=(x,)),
        Call(object=HEADS, arguments=(x,)),
        arrays="torch",
    )
    assert np.array_equal(first.outs[0].values, second.outs[0].values)


def test_gradients_are_those_of_the_sum_of_outputs_times_cotangents(run):
    x = np.array([[1.0, 2.0]])
    (answer,) = run(
        "def f(x, n): return x * x, x.sum() * n, None",
        Gradients(
            name="f",
            arguments=(x, 3),
            cotangents=(np.array([[1.0, 10.0]]), np.array(1.0)),
            of=(0,),
        ),
        arrays="torch",
    )
    assert answer.outs[0].values.tolist() == [[2.0 + 3.0, 40.0 + 3.0]]


def test_gradients_of_an_object_include_every_parameter(run):
    x = np.ones((1, 3), np.float32)
    *_, answer = run(
        MODULE,
        MAKE,
        Mode(object=HEADS, training=False),
        Gradients(object=HEADS, arguments=(x,), cotangents=(np.ones((1, 3)),), of=(0,)),
        arrays="torch",
    )
    assert sorted(answer.names[1:]) == sorted(PARAMETERS)
    assert all(out is not None for out in answer.outs)


@pytest.mark.parametrize(
    "body", ["x.detach() * 2", "torch.from_numpy(x.detach().numpy())", "torch.ones(2)"]
)
def test_a_gradient_that_does_not_exist_is_none(run, body):
    (answer,) = run(
        f"import torch\ndef f(x): return {body}",
        Gradients(name="f", arguments=(np.ones(2),), cotangents=(np.ones(2),), of=(0,)),
        arrays="torch",
    )
    assert answer.outs == (None,)


def test_the_arrays_of_a_numpy_object_are_its_parameters(run):
    owner = Handle(3)
    _, _, answer, out = run(
        "import numpy as np\n"
        "class Block:\n"
        " def __init__(self, d):\n"
        "  self.W = {'q': np.eye(d), 'k': np.eye(d)}; self.layers = [Layer(d)]; self.d = d\n"
        " def __call__(self, x): return x @ self.W['q']\n"
        "class Layer:\n def __init__(self, d): self.bias = np.zeros(d)\n",
        Construct(object=owner, name="Block", arguments=(2,)),
        SetParameters(owner, {"W.q": np.full((2, 2), 3.0)}),
        Parameters(owner),
        Call(object=owner, arguments=(np.ones((1, 2)),)),
    )
    assert answer.names == ("W.q", "W.k", "layers.0.bias")
    assert out.outs[0].values.tolist() == [[6.0, 6.0]]


def test_answers_that_no_header_can_hold_are_raised_instead(load):
    session = CallRunner(load("def f(): return tuple('x' * 200 for _ in range(64))"), CAP, None)
    entries, _ = encode([Call(name="f")] * 8)
    header, blobs = session.run({"id": "", "steps": entries}, memoryview(b""))
    with pytest.raises(wire.WireError):
        wire.pack(header, blobs)
