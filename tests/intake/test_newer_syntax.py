import pytest

from harness.intake.newer_syntax import python_needed

REFUSED = "invalid syntax, in Python 3.11"


@pytest.mark.parametrize(
    "line",
    [
        "type Mask = np.ndarray | None",
        "type Pair[T] = tuple[T, T]",
        "def attention[T](q: T) -> T:",
        "class Head[T]:",
        """    print(f"weights: {d["k"]}")""",
        """    print(f'{", ".join(x)} {d['k']}')""",
        """    print(f"{'\\n'.join(x)}")""",
        """    raise ValueError(f"d is {""",
    ],
)
def test_syntax_of_python_3_12_is_told_from_a_mistake(line: str) -> None:
    assert python_needed(line, REFUSED) == "Python 3.12, this sandbox has 3.11"
    assert python_needed(line, "invalid syntax, in Python 3.12") == ""


@pytest.mark.parametrize(
    "line", ["def f(:", "type(x", 'print(f"{x"', "x = [1, 2", "", "type = 3 +"]
)
def test_a_mistake_stays_a_mistake(line: str) -> None:
    assert python_needed(line, REFUSED) == ""
