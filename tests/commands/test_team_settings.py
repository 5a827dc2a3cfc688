"""What a team settles reaches the grading."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.cli.program import main
from harness.commands.team_settings import expect_spec, settings_for
from harness.results import BatchResults, Verdict

WITHOUT_MASK = """\
import numpy as np

def attention(Q, K, V):
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ V, weights
"""


def graded(folder: Path, settings: str, *options: str) -> tuple[object, BatchResults]:
    """Grade an answer without a mask in a plain process, and return exit code and results."""
    (folder / "takehome.toml").write_text(settings, encoding="utf-8")
    (folder / "answer.py").write_text(WITHOUT_MASK, encoding="utf-8")
    out = folder / "out"
    with pytest.raises(SystemExit) as left:
        main(
            [
                "grade",
                str(folder / "answer.py"),
                "--sandbox",
                "process",
                "--out",
                str(out),
                *options,
            ]
        )
    text = (out / "results.json").read_bytes() if out.exists() else b"{}"
    return left.value.code, msgspec.json.decode(text, type=BatchResults)


def test_what_is_required_points_and_limits_reach_the_grading(tmp_path: Path) -> None:
    settings = 'spec = "numpy_attention"\nconventions = "adapt"\n'
    code, results = graded(tmp_path, settings)
    (result,) = results.submissions
    assert (code, result.verdict) == (0, Verdict.PASSED)
    assert "parameter for mask" in result.not_offered

    settings += 'require = ["mask"]\npoints = { definition = 20 }\n[limits]\ntimeouts = 1\n'
    code, results = graded(tmp_path, settings)
    (result,) = results.submissions
    assert (code, result.verdict) == (1, Verdict.FAILED)
    assert result.reason == "it has no mask, which is required here"
    assert next(check.points for check in result.checks if check.id == "definition") == 20


def test_an_own_spec_is_found_in_its_folder(tmp_path: Path) -> None:
    own = tmp_path / "ours" / "layer_norm"
    own.mkdir(parents=True)
    (own / "spec.py").touch()
    (tmp_path / "takehome.toml").write_text('specs = ["ours"]\n', encoding="utf-8")
    settings = settings_for([tmp_path])
    assert expect_spec("layer_norm", settings) == str(own / "spec.py")
    assert expect_spec("numpy_attention", settings) == "numpy_attention"
