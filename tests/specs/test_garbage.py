"""No answer breaks a check: replies of every kind, to every step of every check of every spec."""

import dataclasses
import itertools
import random

import numpy as np
import pytest

import specs
from harness.candidate.checks import run_check
from harness.candidate.functions import Candidate
from harness.candidate.session import DirectSession
from harness.protocol import Call, Gradients, Opaque, Parameters, Tensor, Unsupported
from harness.results import Outcome

LOADED = [spec for name in specs.TITLES if (spec := specs.load(name)).image != "text"]

#: What may stand in the place of one output of the right shape and dtype.
VALUES = {
    "zero-size": lambda out: Tensor(np.zeros((0, *out.values.shape[1:])), "f8"),
    "empty": lambda out: Tensor(np.zeros(0), "f8"),
    "0-d": lambda out: Tensor(np.asarray(1.0), "f8"),
    "another shape": lambda out: Tensor(np.ones((1, 1)), "f8"),
    "more axes": lambda out: Tensor(out.values[None, ..., None], out.dtype),
    "an axis less": lambda out: Tensor(out.values.reshape(-1), out.dtype),
    "bool": lambda out: Tensor(out.values > 0, "b1"),
    "integers": lambda out: Tensor(np.ones(out.values.shape, np.int8), "i1"),
    "bool of no size": lambda out: Tensor(np.zeros(0, bool), "b1"),
    "float16": lambda out: Tensor(out.values.astype(np.float16), "f2"),
    "NaN": lambda out: Tensor(np.full(out.values.shape, np.nan), "f8"),
    "infinite": lambda out: Tensor(np.full(out.values.shape, np.inf), "f8"),
    "huge": lambda out: Tensor(np.full(out.values.shape, 1e308), "f8"),
    "complex": lambda out: Unsupported("complex128", out.values.shape),
    "object": lambda out: Unsupported("object", ()),
    "a cache": lambda out: Opaque("dict"),
    "None": lambda out: None,
    "True": lambda out: True,
    "a large int": lambda out: 2**62,
    "nan": lambda out: float("nan"),
    "text": lambda out: "0.5",
}


def each_output(change):
    def changed(outs):
        return tuple(change(out) if isinstance(out, Tensor) else out for out in outs)

    return lambda answer: dataclasses.replace(
        answer, outs=changed(answer.outs), echo=changed(answer.echo)
    )


def first_output(change):
    def changed(answer):
        first = [change(out) if isinstance(out, Tensor) else out for out in answer.outs[:1]]
        return dataclasses.replace(answer, outs=(*first, *answer.outs[1:]))

    return changed


#: What may stand in the place of one answer.
REPLIES = {
    "as they are": lambda answer: answer,
    **{name: each_output(change) for name, change in VALUES.items()},
    **{f"first output {name}": first_output(change) for name, change in VALUES.items()},
    "no outputs": lambda answer: dataclasses.replace(answer, outs=(), names=(), form="nothing"),
    "one output": lambda answer: dataclasses.replace(answer, outs=answer.outs[:1]),
    "extra outputs": lambda answer: dataclasses.replace(answer, outs=answer.outs * 3),
    "nothing echoed": lambda answer: dataclasses.replace(answer, echo=()),
    "half echoed": lambda answer: dataclasses.replace(answer, echo=answer.echo[:1]),
    "twice echoed": lambda answer: dataclasses.replace(answer, echo=answer.echo * 2),
    "no names": lambda answer: dataclasses.replace(answer, names=()),
    "other names": lambda answer: dataclasses.replace(answer, names=("x",) * len(answer.names)),
    "more names": lambda answer: dataclasses.replace(answer, names=(*answer.names, "x", "y")),
}


@dataclasses.dataclass
class GarbledSession:
    """A right answer of which some replies are exchanged for others."""

    inner: DirectSession
    reply: object
    verbs: tuple[type, ...]
    every: int = 1  #: only each so many replies
    memory_noise: int = 16 << 10
    count: int = 0

    def exchange(self, steps):
        answers = self.inner.exchange(steps)
        return [self._garbled(s, a) for s, a in zip(steps, answers, strict=True)]

    def measure(self, warm_up, step):
        return self.exchange([warm_up, step])[1], 0

    def _garbled(self, step, answer):
        if answer.raised is not None or not isinstance(step, self.verbs):
            return answer
        self.count += 1
        return answer if self.count % self.every else self.reply(answer)


each_spec = pytest.mark.parametrize("spec", LOADED, ids=lambda spec: spec.name)

#: So many kinds of replies are tried where there is no time for all.
SOME = 4

ANY = (object,)
SELECTIONS = {
    "every reply": (ANY, 1),
    "every other reply": (ANY, 2),
    "calls": ((Call,), 1),
    "gradients": ((Gradients,), 1),
    "parameters": ((Parameters,), 1),
}
ALL = list(itertools.product(REPLIES, SELECTIONS))


def broken_checks(spec, reply, selection):
    """Return the checks that broke where a right submission's replies were exchanged."""
    verbs, every = SELECTIONS[selection]
    inner = DirectSession(spec.assemble(spec.reference), arrays=spec.arrays)
    candidate = Candidate(spec, GarbledSession(inner, REPLIES[reply], verbs, every))
    results = [run_check(check, spec, candidate, "seed") for check in spec.checks]
    return [
        (reply, selection, result.id, result.message)
        for result in results
        if result.outcome is Outcome.INVALID or " broke: " in result.message
    ]


@each_spec
def test_no_reply_of_some_breaks_a_check(spec, seeds):
    drawn = random.Random(seeds[0]).sample(ALL, SOME)
    broken = [each for pair in drawn for each in broken_checks(spec, *pair)]
    assert not broken, f"seed {seeds[0]}"


@pytest.mark.slow
@each_spec
def test_no_reply_of_all_breaks_a_check(spec):
    assert not [each for pair in ALL for each in broken_checks(spec, *pair)]
