"""``takehome.toml``: who is graded by what, and what a mistake in it says."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.results import Level
from harness.settings import find_settings, parse_settings, read_settings

WHOLE = """
spec = "numpy_attention"
conventions = "adapt"
level = "good"
deadline = 2026-12-01T18:00:00+01:00
retention_days = 90

[limits]
submission_seconds = 120
timeouts = 2

[points]
scale = 2.5

[[assignment]]
path = "torch/"
spec = "torch_sdpa"
require = ["mask"]
[assignment.limits]
timeouts = 4

[[assignment]]
path = "torch/heads"
spec = "torch_multi_head"
"""


def test_the_longest_path_decides_and_inherits_the_rest(tmp_path: Path) -> None:
    settings = parse_settings(WHOLE, tmp_path / "takehome.toml")
    torch = settings.of(tmp_path / "torch" / "ada.py")
    assert (torch.spec, torch.conventions, torch.require) == ("torch_sdpa", "adapt", ("mask",))
    assert torch.limits.changes() == {"submission_seconds": 120, "timeouts": 4}
    assert settings.of(tmp_path / "torch" / "heads" / "ada.py").spec == "torch_multi_head"
    other = settings.of(tmp_path / "ada.py")
    assert (other.spec, other.level, other.points) == (
        "numpy_attention",
        Level.GOOD,
        {"scale": 2.5},
    )
    assert isinstance(other.deadline, datetime.datetime)
    assert settings.retention_days == 90


def test_without_a_file_everything_is_as_usual(tmp_path: Path) -> None:
    assert read_settings(None).of(tmp_path).conventions == "strict"


def test_the_nearest_file_above_is_found(tmp_path: Path) -> None:
    (tmp_path / "takehome.toml").write_text('spec = "numpy_attention"\n')
    (tmp_path / "one" / "two").mkdir(parents=True)
    assert find_settings(tmp_path / "one" / "two") == tmp_path / "takehome.toml"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spce = 'x'\n", ("line 1", "spce is not known", "did you mean spec?")),
        ("\n[limits]\nmemory = 3\n", ("line 3", "did you mean memory_bytes?")),
        ("spec = \n", ("no TOML", "line 1")),
        ("conventions = 'loose'\n", ("line 1", "conventions is not usable")),
        ("[limits]\ntimeouts = 0\n", ("line 2", "timeouts is not usable")),
        ("[points]\nscale = 0.3\n", ("points", "not usable")),
        ("retention_days = 'long'\n", ("line 1", "retention_days is not usable")),
        ("path = 'a'\n", ("line 1", "[[assignment]]")),
        ("assignment = 3\n", ("expected tables",)),
        ("[[assignment]]\npath = 'a'\nspecc = 'x'\n", ("line 3", "did you mean spec")),
    ],
)
def test_a_mistake_is_named_with_line_and_remedy(
    text: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        parse_settings(text, tmp_path / "takehome.toml")
    for word in ("takehome.toml", *words):
        assert word in str(raised.value)
