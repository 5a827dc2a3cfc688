import pytest

from harness.parsing.child.outline import run


@pytest.mark.parametrize(
    ("text", "defines"),
    [
        ("def f(): ...", True),
        ("async def f(): ...", True),
        ("class A: ...", True),
        ("if True:\n    def f(): ...", False),
        ("import numpy", False),
        ("def f(:", True),
    ],
)
def test_definitions_at_top_level_count(text: str, defines: bool) -> None:
    assert run({"text": text})["defines"] is defines


def test_every_name_that_could_be_a_module_is_listed() -> None:
    text = "import a.b as x\nfrom .c import d\nfrom . import e\ndef f():\n    import g"
    assert run({"text": text})["imports"] == ["a", "b", "c", "d", "e", "g"]
