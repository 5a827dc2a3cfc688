import pytest

from harness.parsing.child.outline import run


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("def f(): ...", ["f"]),
        ("async def f(): ...", ["f"]),
        ("class A: ...", ["A"]),
        ("if True:\n    def f(): ...", []),
        ("import numpy", []),
        ("def f(:", None),
    ],
)
def test_definitions_at_top_level_count(text: str, defines: list[str] | None) -> None:
    assert run({"text": text})["defines"] == defines


def test_every_name_that_could_be_a_module_is_listed() -> None:
    text = "import a.b as x\nfrom .c import d\nfrom . import e\ndef f():\n    import g"
    assert run({"text": text})["imports"] == ["a", "b", "c", "d", "e", "g"]
