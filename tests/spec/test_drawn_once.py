import numpy as np

from harness.spec import Draw, DrawnOnce


def draws(draw):
    return [
        draw.normal(2, 3, scale=2.0, dtype="f4"),
        draw.uniform(4, high=3.0),
        draw.integers(5, low=1, high=9),
        draw.permutation(6),
        draw.mask(2, 3, 4, 4, keep=0.5),
    ]


def same(one, other):
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_every_submission_is_given_what_a_draw_gives():
    for alike in (False, True):
        drawn = DrawnOnce("seed", "check", heads_alike=alike)
        right = draws(Draw("seed", "check", heads_alike=alike))
        assert same(draws(drawn.again()), right)
        assert same(draws(drawn.again()), right)


def test_what_one_submission_writes_into_an_array_no_other_sees():
    drawn = DrawnOnce("seed", "check")
    drawn.again().normal(3)[:] = 0
    assert same([drawn.again().normal(3)], [Draw("seed", "check").normal(3)])


def test_who_stops_early_or_asks_for_something_else_disturbs_nobody():
    drawn, alone = DrawnOnce("seed", "check"), Draw("seed", "check")
    first = drawn.again().normal(3)
    other = drawn.again()
    mine = [other.normal(3), other.uniform(2), other.normal(4)]
    assert same(mine, [alone.normal(3), alone.uniform(2), alone.normal(4)])
    third = drawn.again()
    again = Draw("seed", "check")
    assert same([third.normal(3), third.normal(5)], [again.normal(3), again.normal(5)])
    assert same([first], [Draw("seed", "check").normal(3)])


def test_beyond_its_cap_nothing_is_kept_and_the_draws_are_the_same(monkeypatch):
    monkeypatch.setattr(DrawnOnce, "bytes_cap", 40)
    drawn = DrawnOnce("seed", "check")
    assert same(draws(drawn.again()), draws(Draw("seed", "check")))
    assert len(drawn._drawn) == 2
