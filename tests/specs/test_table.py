"""docs/criteria.md is current, and says of every criterion where it counts and what it catches."""

from pathlib import Path

import pytest

import specs
from specs.table import caught, table

PAGE = Path(__file__).parents[2] / "docs" / "criteria.md"
LOADED = [specs.load(name) for name in specs.TITLES]

#: What a grader of hand-written attention must look at, whatever the assignment.
CRITERIA = (
    "output-shape", "weights-shape", "definition", "sdpa-parity", "scale", "scale-effect",
    "softmax-axis", "softmax-before-values", "weights-valid", "values-aggregated",
    "mask-before-softmax", "mask-value", "mask-polarity", "causal-mask", "padding-mask",
    "causal-perturbation", "padding", "mask-combination", "mask-broadcast", "fully-masked-row",
    "masked-gradients", "stable-softmax", "half-precision", "dtype-preserved", "inputs-untouched",
    "permutation", "batch-independent", "head-split", "heads-independent", "output-projection",
    "separate-projections", "self-and-cross", "gradients", "dropout-place", "dropout-scale",
    "dropout-off", "multi-head-parity", "additive-mask", "pe-values", "pe-shape", "pe-distance",
    "rotary", "alibi", "kv-one-by-one", "kv-chunks", "kv-prefill", "kv-second-prompt", "kv-cost",
    "online-equals-full", "online-ragged", "memory-growth", "residual-and-norm", "from-scratch",
    "determinism",
)  # fmt: skip


def test_the_page_is_current():
    message = "python -m specs.table > docs/criteria.md"
    assert PAGE.read_text(encoding="utf-8") == table(LOADED), message


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_is_encoded_and_catches_a_flaw(criterion):
    counting = [(s, check) for s in LOADED for check in s.checks if check.id == criterion]
    assert counting, f"{criterion} is in no spec"
    assert any(caught(spec, check) for spec, check in counting), f"{criterion} catches nothing"


def test_every_check_of_every_spec_has_a_row_with_its_flaws():
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    for spec in LOADED:
        for check in spec.checks:
            ending = f"| {spec.name} | {check.level} | {check.points} | {caught(spec, check)} |"
            assert any(row.endswith(ending) for row in rows), f"{check.id} of {spec.name}"
