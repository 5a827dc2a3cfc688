import dataclasses
import textwrap
import time

import numpy as np
import pytest

from harness.intake.source_tree import SourceFile
from harness.protocol import Call
from harness.repair.edited_versions import TIMEOUTS, Versions, edited
from harness.repair.search import OutOfTime
from harness.sandbox.base import Limits
from harness.sandbox.process import ProcessSandbox
from tests import toy

ALL = frozenset(check.id for check in toy.SPEC.checks)
LOOPING = "def double(x):\n    while True: pass\n"


@pytest.fixture
def sandbox():
    sandbox = ProcessSandbox()
    yield sandbox
    sandbox.close()


def versions(sandbox, submission=None, seconds=60.0):
    return Versions(
        submission or toy.submission(),
        toy.SPEC,
        sandbox,
        Limits(exchange_seconds=0.5),
        seed="seed",
        seconds=seconds,
        clock=time.monotonic,
    )


def passed(of, text, checks=toy.SPEC.checks):
    return of.passes(text.encode(), checks, of.session, None)


def test_versions_run_one_after_another_in_one_process(sandbox):
    of = versions(sandbox)
    assert passed(of, toy.RIGHT) == ALL
    exchanges = of.session.exchanges
    assert passed(of, toy.WRONG) == {"shape", "untouched", "total"}
    assert passed(of, toy.RIGHT) == ALL
    # One to enter each version, one or two for a check, and no other start.
    assert of.session.exchanges - exchanges == 10


def test_a_version_has_no_name_of_the_one_before(sandbox):
    of = versions(sandbox)
    passed(of, toy.RIGHT)
    assert passed(of, "def total(x):\n    return double(x).sum() / 2") == frozenset()


def test_a_version_is_there_again_when_the_process_is_a_fresh_one(sandbox):
    of = versions(sandbox)
    passed(of, toy.RIGHT)
    of.session.load()
    (answer,) = of.session.exchange([Call(name="total", arguments=(np.ones(3),))])
    assert answer.raised is None


def test_checks_end_after_two_that_fail(sandbox):
    of = versions(sandbox)
    assert passed(of, "def total(x):\n    return x.sum()") == frozenset()


def test_a_version_that_does_not_compile_or_raises_passes_nothing(sandbox):
    of = versions(sandbox)
    assert passed(of, "def double(") == frozenset()
    assert passed(of, "raise SystemExit(3)") == frozenset()
    assert passed(of, toy.RIGHT) == ALL


def test_what_was_defined_before_a_version_raised_counts(sandbox):
    assert passed(versions(sandbox), toy.RIGHT + "1 / 0\n") == ALL


@pytest.mark.parametrize("ending", [LOOPING, "import os\nos._exit(3)"])
def test_a_version_that_ends_the_process_spoils_no_other(sandbox, ending):
    of = versions(sandbox)
    assert passed(of, ending) == frozenset()
    assert passed(of, toy.RIGHT) == ALL


def test_many_versions_that_end_the_process_end_the_trials(sandbox):
    of = versions(sandbox)
    with pytest.raises(OutOfTime):
        for _ in range(TIMEOUTS + 1):
            passed(of, LOOPING)


def test_no_version_runs_when_the_time_is_spent(sandbox):
    with pytest.raises(OutOfTime):
        passed(versions(sandbox, seconds=0.0), toy.RIGHT)


def test_a_version_imports_the_other_files_of_the_submission(sandbox):
    beside = SourceFile(name="parts.py", data=b"def twice(x):\n    return x * 2\n")
    first, *_ = toy.submission().files
    of = versions(sandbox, with_files(first, beside))
    text = toy.RIGHT.replace("x * 2", "twice(x)")
    assert passed(of, "from parts import twice\n" + text) == ALL
    assert passed(of, "from .parts import twice\n" + text) == ALL


def test_a_version_may_hold_dataclasses_and_look_at_its_own_source(sandbox):
    text = """
        from __future__ import annotations
        import dataclasses, inspect

        @dataclasses.dataclass
        class Twice:
            factor: int = 2

        def double(x):
            assert "factor" in inspect.getsource(double)
            return x * Twice().factor

        def total(x):
            return x.sum()
    """
    assert passed(versions(sandbox), textwrap.dedent(text)) == ALL


def test_only_the_entry_file_is_edited():
    beside = SourceFile(name="parts.py", data=b"")
    submission = with_files(SourceFile(name="answer.py", data=b"old"), beside)
    changed = edited(submission, b"new")
    assert [file.data for file in changed.files] == [b"new", b""]
    assert changed.entry == submission.entry


def with_files(*files):
    return dataclasses.replace(toy.submission(), files=files)
