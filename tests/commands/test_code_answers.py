"""Code in written answers is run, and its card linked; no verdict depends on it."""

import dataclasses
import json
from pathlib import Path

import pytest

import specs
from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from harness.results import Verdict

CODE = """\
Scores first, then:

```python
def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1)
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = F.dropout(torch.softmax(scores, dim=-1), dropout_p, training)
    return weights @ v, weights
```
"""


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    form = specs.load("written_answers").starter
    (folder / "ann.md").write_text(form.replace("**43 answer:**", f"**43 answer:**\n{CODE}"))
    (folder / "bob.md").write_text(form.replace("**43 answer:**", "**43 answer:** by softmax"))
    return folder


def grade(inbox, **changes):
    said = []
    out = inbox.parent / "out"
    request = Request(
        paths=(inbox,), spec="written_answers", out=out, jobs=1, sandbox="process", reuse=False,
        runtime=None, seed="7", fresh=False, single=False, adapt=False, for_candidates=False,
        repairs=Repairs.NONE,
    )  # fmt: skip
    results = grade_batch(dataclasses.replace(request, **changes), said.append)
    cards = [json.loads(path.read_text("utf-8")) for path in sorted((out / "cards").glob("*.json"))]
    return results, {card["result"]["id"]: card for card in cards}, said


def test_fenced_code_is_graded_once_and_linked_from_its_question(inbox):
    results, cards, said = grade(inbox)
    assert [one.verdict for one in results] == [Verdict.AWAITING_REVIEW] * 2
    assert "running code in 1 answers" in said
    assert sorted(cards) == ["ann", "ann, question 43", "bob"]
    assert cards["ann, question 43"]["spec"] == "torch_sdpa"
    assert cards["ann, question 43"]["result"]["diagnosis"][0]["flaw"].startswith("no-scale")
    page = (inbox.parent / "out" / results[0].card).read_text(encoding="utf-8")
    link = cards["ann, question 43"]["result"]["card"].removeprefix("cards/")
    assert f'<a href="{link}">The card of this code</a>' in page
    assert not [line for line in grade(inbox)[2] if "running code" in line]
    (inbox / "ann.md").unlink()
    assert sorted(grade(inbox)[1]) == ["bob"]


def test_without_an_engine_the_forms_are_read_all_the_same(inbox, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{inbox}/none")
    results, cards, said = grade(inbox, sandbox="container")
    assert [one.verdict for one in results] == [Verdict.AWAITING_REVIEW] * 2
    assert sorted(cards) == ["ann", "bob"]
    assert any(line.startswith("code in 1 answers was not run: ") for line in said)


def test_nothing_is_run_for_the_cards_of_candidates(inbox):
    assert not [line for line in grade(inbox, for_candidates=True)[2] if "code" in line]
