import itertools

import pytest

from harness.parsing.client import SourceEdit
from harness.repair.search import EditSearch, FailureFacts, OutOfTime, applied

FAILING = ("definition", "scale", "dropout-off", "additive-mask")


def edit(name, kind="axis", place=0, entries=(0,), about=()):
    """An edit that is known by its name, at a place of its own."""
    start = 10 * int.from_bytes(name[:3].encode())
    return SourceEdit(
        kind=kind,
        place=place,
        function="attention",
        entries=entries,
        about=about,
        description=name,
        changes=((start, start + 5, name),),
    )


class EditRunner:
    """Says which failing checks pass with which edits, and remembers what it was asked."""

    def __init__(self, answers, *, proving=True):
        self._answers = answers
        self._proving = proving
        self.tried = []
        self.proved = []

    def passes(self, edits, checks):
        names = frozenset(edit.description for edit in edits)
        self.tried.append(names)
        known = [passed for needed, passed in self._answers.items() if {*needed} <= names]
        return frozenset(itertools.chain(*known)) & {*checks}

    def proves(self, edits):
        self.proved.append(edits)
        return self._proving


def search(edits, runner, budget=200, **facts):
    facts = FailureFacts(failing=FAILING, shares=(1.0,), **facts)
    return EditSearch(edits, facts, runner).run(budget)


def names(found):
    return [edit.description for edit in found.edits]


ALL = [edit(f"{letter}{number}") for letter in "abcdef" for number in range(5)]


def test_one_edit_that_repairs_everything_is_found_and_proved():
    runner = EditRunner({("c3",): FAILING})
    found = search(ALL, runner)
    assert names(found) == ["c3"]
    assert found.runs == len(runner.tried) + len(runner.proved)
    assert len(runner.proved) == 1


def test_what_is_not_proved_is_no_repair():
    runner = EditRunner({("c3",): FAILING}, proving=False)
    assert search(ALL, runner) is None
    assert runner.proved


def test_an_edit_that_helps_is_kept_for_the_next():
    answers = {("b1",): FAILING[:2], ("b1", "e4"): FAILING}
    assert sorted(names(search(ALL, EditRunner(answers)))) == ["b1", "e4"]


def test_three_edits_that_help_one_after_another_are_found():
    answers = {("a1",): FAILING[:2], ("a1", "c1"): FAILING[:3], ("a1", "c1", "e1"): FAILING}
    assert sorted(names(search(ALL, EditRunner(answers), budget=400))) == ["a1", "c1", "e1"]


def test_a_pair_is_found_of_which_neither_helps_alone():
    answers = {("a2", "a4"): FAILING}
    assert sorted(names(search(ALL, EditRunner(answers)))) == ["a2", "a4"]


def test_edits_of_the_same_place_are_never_made_together():
    first, second = edit("x1"), edit("x2")
    overlapping = SourceEdit(
        kind="axis", place=0, function="", entries=(0,), about=(), description="x3",
        changes=((first.changes[0][0] + 2, first.changes[0][1] + 40, "x3"),),
    )  # fmt: skip
    runner = EditRunner({})
    search([first, overlapping, second], runner)
    assert frozenset({"x1", "x3"}) not in runner.tried


@pytest.mark.parametrize("budget", [0, 1, 7, 50, 200])
def test_no_more_sources_run_than_the_budget_allows(budget):
    runner = EditRunner({("a1",): FAILING[:2]}, proving=False)
    assert search(ALL, runner, budget=budget) is None
    assert len(runner.tried) + len(runner.proved) <= budget


def test_some_of_the_budget_is_left_for_pairs():
    runner = EditRunner({})
    search([edit(f"{letter}{number}") for letter in "abcdefghij" for number in range(30)], runner)
    assert {len(names) for names in runner.tried} == {1, 2}


def test_nothing_runs_twice():
    runner = EditRunner({("a1",): FAILING[:1], ("b1",): FAILING[:1]})
    search(ALL, runner)
    assert len(runner.tried) == len({*runner.tried})


def test_the_same_change_under_another_kind_runs_once():
    runner = EditRunner({})
    search([edit("a1"), edit("a1", kind="scale")], runner)
    assert runner.tried == [frozenset({"a1"})]


def test_the_search_ends_when_the_time_is_spent():
    class Late(EditRunner):
        def passes(self, edits, checks):
            if len(self.tried) == 5:
                raise OutOfTime
            return super().passes(edits, checks)

    runner = Late({("f4",): FAILING})
    assert search(ALL, runner) is None
    assert len(runner.tried) == 5


def test_what_the_diagnosis_names_is_tried_first():
    edits = [edit("axis"), edit("fill", kind="fill"), edit("scale", kind="scale")]
    runner = EditRunner({})
    search(edits, runner, stages=("scale-by-d", "scale"))
    assert runner.tried[0] == {"scale"}


def test_without_a_diagnosis_the_failing_checks_say_what_is_tried_first():
    edits = [edit("axis"), edit("dropout", kind="dropout"), edit("triangle", kind="triangle")]
    runner = EditRunner({})
    EditSearch(edits, FailureFacts(failing=("dropout-off",), shares=(1.0,)), runner).run(200)
    assert runner.tried[0] == {"dropout"}


def test_edits_of_what_the_diagnosis_is_about_come_first():
    edits = [edit("elsewhere", about=("score",)), edit("there", about=("heads", "merge"))]
    runner = EditRunner({})
    search(edits, runner, stages=("merge-by-reshape", "heads"))
    assert runner.tried[0] == {"there"}


def test_an_edit_that_breaks_what_passed_is_not_built_upon():
    answers = {(): ("shape",), ("bad",): FAILING[:3], ("a1",): FAILING[:3], ("b1",): FAILING[3:]}
    runner = EditRunner(answers)
    breaking = runner.passes
    runner.passes = lambda edits, checks: (
        breaking(edits, checks)
        - ({"shape"} if "bad" in {edit.description for edit in edits} else set())
    )
    found = search([edit("bad"), edit("a1"), edit("b1", place=9)], runner, passing=("shape",))
    assert names(found) == ["a1", "b1"]
    assert runner.tried[:3] == [{"bad"}, {"bad"}, {"a1"}]


def test_of_equal_edits_the_likeliest_counts():
    late = edit("same", place=50)
    others = [edit(f"{letter}{number}") for letter in "abcde" for number in range(5)]
    runner = EditRunner({("same",): FAILING})
    found = search([late, *others, edit("same", kind="dropout")], runner)
    assert found.runs <= 4


def test_edits_of_the_line_that_raised_come_first():
    edits = [edit("a1"), edit("b1"), edit("c1")]
    start, end, _ = edits[1].changes[0]
    runner = EditRunner({})
    search(edits, runner, raised=((start - 20, end + 20),))
    assert runner.tried[0] == {"b1"}


def test_the_entry_that_more_checks_are_about_comes_first():
    edits = [edit("rarely", entries=(1,)), edit("often", entries=(0,))]
    runner = EditRunner({})
    EditSearch(edits, FailureFacts(failing=FAILING, shares=(0.9, 0.2)), runner).run(200)
    assert runner.tried[0] == {"often"}


def test_edits_are_made_from_the_end_so_that_places_stay():
    first = SourceEdit(
        kind="", place=0, function="", entries=(), about=(), description="",
        changes=((0, 1, "longer"), (4, 5, "")),
    )  # fmt: skip
    second = SourceEdit(
        kind="",
        place=0,
        function="",
        entries=(),
        about=(),
        description="",
        changes=((2, 3, "缩放"),),
    )
    assert applied((first, second), b"abcdef") == "longerb缩放df".encode()
