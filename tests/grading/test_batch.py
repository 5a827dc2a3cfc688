import dataclasses
from concurrent.futures import BrokenExecutor, Future

import msgspec
import pytest

from harness.errors import SandboxBroken
from harness.grading.batch import BROKEN_IN_A_ROW, TRIES, Jobs, Pending, grade_all
from harness.results import Card, Environment, SubmissionResult, Verdict

ENVIRONMENT = Environment(takehome="0", sandbox="process", isolated=False)


def card(identifier, verdict=Verdict.PASSED, reason=""):
    result = SubmissionResult(id=identifier, sha256="0" * 64, verdict=verdict, reason=reason)
    return Card(spec="s", title="t", environment=ENVIRONMENT, result=result)


def broken(identifier):
    return card(identifier, Verdict.INVALID, "the engine is gone")


class FakeJobs:
    """Answers at once, by what ``script`` says of each try of a submission; else with a card.

    A script holds cards to return and errors to raise. A `BrokenExecutor` breaks every future
    that is not done.
    """

    def __init__(self, script=None, *, count=2):
        self.script = {name: list(tries) for name, tries in (script or {}).items()}
        self.begun = []
        self.open = {}
        self.most = 0
        self.jobs = Jobs(submit=self.submit, count=count, unscored=self.unscored)

    def submit(self, task):
        name = task.decode()
        self.begun.append(name)
        self.open = {future: what for future, what in self.open.items() if not future.done()}
        future = Future()
        tries = self.script.get(name)
        self.open[future] = tries.pop(0) if tries else card(name)
        self.most = max(self.most, len(self.open))
        if len(self.open) > self.jobs.count or self.is_last(name):
            self.settle()
        return future

    def is_last(self, name):
        return name == self.last or self.begun.count(name) > 1

    def settle(self):
        dead = any(isinstance(what, BrokenExecutor) for what in self.open.values())
        for future, what in self.open.items():
            if dead:
                future.set_exception(BrokenExecutor())
            elif isinstance(what, Exception):
                future.set_exception(what)
            else:
                future.set_result(msgspec.json.encode(what))

    def unscored(self, pending, reason):
        return card(pending.id, Verdict.INVALID, reason)

    def run(self, count=4):
        names = [f"s{n}" for n in range(count)]
        self.last = names[-1] if names else ""
        pending = [Pending(id=name, key=f"key of {name}", task=name.encode()) for name in names]
        return [(p.key, c.result) for p, c in grade_all(pending, self.jobs)]


def verdicts(graded):
    return {result.id: str(result.verdict) for _, result in graded}


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_submission_comes_back_once_with_its_key(count):
    graded = FakeJobs().run(count)
    assert sorted(graded_key for graded_key, _ in graded) == [f"key of s{n}" for n in range(count)]
    assert all(key == f"key of {result.id}" for key, result in graded)


def test_one_submission_more_than_there_are_jobs_is_at_hand():
    jobs = FakeJobs(count=3)
    jobs.run(12)
    assert jobs.most == 4


def test_a_submission_whose_sandbox_broke_is_graded_again_and_says_why():
    jobs = FakeJobs({"s1": [broken("s1")]})
    graded = jobs.run()
    assert set(verdicts(graded).values()) == {"passed"}
    notes = {result.id: result.notes for _, result in graded}
    assert notes["s1"] == ("Graded again, since the engine is gone",)
    assert notes["s0"] == ()


def test_it_is_invalid_after_so_many_tries():
    jobs = FakeJobs({"s1": [broken("s1")] * TRIES})
    assert verdicts(jobs.run())["s1"] == "invalid"
    assert jobs.begun.count("s1") == TRIES


def test_a_job_that_dies_costs_no_other_submission_anything():
    jobs = FakeJobs({"s1": [BrokenExecutor()]})
    graded = jobs.run()
    assert set(verdicts(graded).values()) == {"passed"}
    assert [result.notes for _, result in graded] == [()] * 4


def test_a_submission_that_ends_every_job_is_invalid_and_the_others_are_graded():
    jobs = FakeJobs({"s1": [BrokenExecutor()] * (TRIES + 1)})
    came_to = verdicts(jobs.run(6))
    assert came_to.pop("s1") == "invalid"
    assert set(came_to.values()) == {"passed"}


def test_a_batch_in_which_nothing_can_be_graded_ends():
    names = [f"s{n}" for n in range(50)]
    jobs = FakeJobs({name: [broken(name)] * TRIES for name in names})
    with pytest.raises(SandboxBroken, match=r"5 submissions in a row .* the engine is gone"):
        jobs.run(50)
    assert len(set(jobs.begun)) < 3 * BROKEN_IN_A_ROW


def test_a_sandbox_that_cannot_be_opened_ends_the_batch():
    jobs = FakeJobs({"s0": [SandboxBroken("no engine answers")]})
    with pytest.raises(SandboxBroken, match="no engine answers"):
        jobs.run()


def test_when_the_caller_stops_what_runs_is_finished_and_nothing_is_begun():
    jobs = FakeJobs(count=2)
    stopping = []
    jobs.last = ""
    pending = [Pending(id=f"s{n}", key="", task=b"s%d" % n) for n in range(50)]
    asked = Jobs(
        submit=jobs.submit, count=2, unscored=jobs.unscored, stopping=lambda: bool(stopping)
    )
    graded = []
    for submission, _ in grade_all(pending, asked):
        graded.append(submission.id)
        stopping.append(True)
    assert sorted(graded) == sorted(jobs.begun) == ["s0", "s1", "s2"]


def test_a_watcher_sees_each_begin_and_end_and_what_is_tried_again():
    class Watcher:
        def __init__(self):
            self.seen = []

        def began(self, submission):
            self.seen.append(f"{submission.id} begins")

        def ended(self, submission, failure):
            self.seen.append(f"{submission.id} ends{f': {failure}' if failure else ''}")

    jobs, watcher = FakeJobs({"s0": [broken("s0")]}, count=1), Watcher()
    jobs.jobs = dataclasses.replace(jobs.jobs, watcher=watcher)
    jobs.run(1)
    assert watcher.seen == [
        "s0 begins",
        "s0 ends: the engine is gone",
        "s0 begins",
        "s0 ends",
    ]
