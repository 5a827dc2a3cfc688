"""Torch in a container: loaded before the fork, and working after it."""

import dataclasses
import secrets

import numpy as np
import pytest

from harness.protocol import Call, Construct, Gradients, Handle, decode, encode
from harness.sandbox.base import Limits
from harness.sandbox.container.images import ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.worker import wire

pytestmark = pytest.mark.docker

LIMITS = dataclasses.replace(Limits(), memory_bytes=2 << 30, processes=256)

ATTENTION = """
import torch, math
from torch import nn
import torch.nn.functional as F

def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v

def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)

def threads(q):
    torch.set_num_threads(2)
    return (q @ q.transpose(-2, -1)).sum()

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
    def forward(self, x):
        return attention(self.q(x), self.k(x), self.v(x))
"""


@pytest.fixture(scope="module")
def sandbox(engine):
    sandbox = ContainerSandbox(
        client=engine, image=ensure_image(engine, "takehome-torch"), limits=LIMITS
    )
    yield sandbox
    sandbox.close()


@pytest.fixture
def ask(sandbox):
    """Loads the source above and answers steps."""

    def run(*steps, blocked=False):
        data = ATTENTION.encode()
        load = {
            "op": "load",
            "id": secrets.token_hex(16),
            "seconds": 20,
            "arrays": "torch",
            "origin": "script",
            "blocked": blocked,
            "entry": "answer.py",
            "files": [{"name": "answer.py", "size": len(data)}],
        }
        sandbox.start(wire.pack(load, [data]), 20)
        entries, blobs = encode(steps)
        header = {"op": "run", "id": secrets.token_hex(16), "seconds": 5, "steps": entries}
        reply = sandbox.call(wire.pack(header, blobs), 5)
        return decode(reply.header, reply.payload, len(steps))

    return run


@pytest.fixture
def tensors():
    return tuple(np.random.default_rng(3).normal(size=(3, 2, 5, 4)))


def test_forward_and_backward_work_in_the_fork(ask, tensors):
    forward, backward = ask(
        Call(name="attention", arguments=tensors),
        Gradients(name="attention", arguments=tensors, cotangents=(tensors[0],), of=(0, 1, 2)),
    )
    assert forward.outs[0].dtype == "f8"
    assert [out.values.shape for out in backward.outs] == [(2, 5, 4)] * 3


def test_more_threads_than_the_supervisor_had_do_not_hang(ask):
    (answer,) = ask(Call(name="threads", arguments=(np.ones((512, 512), np.float32),)))
    assert answer.outs[0].values == 512.0**3


def test_gradients_of_a_module_work_in_the_fork(ask, tensors):
    block = Handle(1)
    x = tensors[0].astype(np.float32)
    made, gradients = ask(
        Construct(object=block, name="Block", arguments=(4,)),
        Gradients(object=block, arguments=(x,), cotangents=(x,), of=(0,)),
    )
    assert made.raised is None
    assert gradients.names[1:] == tuple(f"{n}.{p}" for n in "qkv" for p in ("weight", "bias"))


def test_a_fused_call_is_answered_unless_it_is_blocked(ask, tensors):
    by_hand, fused = ask(*(Call(name=name, arguments=tensors) for name in ("attention", "fused")))
    assert fused.outs[0].values == pytest.approx(by_hand.outs[0].values)


def test_a_blocked_call_names_itself_and_its_line_and_costs_nothing_else(ask, tensors):
    fused, by_hand = ask(
        *(Call(name=name, arguments=tensors) for name in ("fused", "attention")), blocked=True
    )
    assert fused.raised.kind == "NotByHand"
    assert "F.scaled_dot_product_attention is not allowed" in fused.raised.message
    assert fused.raised.line == 10
    assert by_hand.raised is None


def test_a_block_does_not_stay_for_the_next_submission(ask, tensors):
    ask(Call(name="fused", arguments=tensors), blocked=True)
    (fused,) = ask(Call(name="fused", arguments=tensors))
    assert fused.raised is None
