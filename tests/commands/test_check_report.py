import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import specs
from harness.candidate_view import snippet
from harness.commands.check import check_file, is_starter
from harness.commands.check_report import CheckReport, changed, first_cause_first
from harness.language import ENGLISH
from harness.results import Outcome
from tests import toy

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_submissions"
SPEC = specs.load("numpy_attention")


def told(file, spec=SPEC, **options):
    """Check a file and return what its author reads, without colours."""
    card = check_file(file, spec, seed="seed")
    report = CheckReport(
        card=card,
        file=file.name,
        is_starter=is_starter(file, spec),
        language=ENGLISH,
        **options,
    )
    return [line.plain for line in report.lines()]


@pytest.fixture
def write(tmp_path):
    def write(text, name="attention.py"):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture(scope="module")
def no_scale():
    return check_file(SAMPLES / "numpy_attention" / "wrong_no-scale.py", SPEC, seed="seed")


def test_a_wrong_answer_is_told_by_the_fact_of_its_likeliest_cause(no_scale):
    report = CheckReport(card=no_scale, file="attention.py", is_starter=False, language=ENGLISH)
    lines = [line.plain for line in report.lines()]
    assert lines[0] == (
        "Not right yet: scores are multiplied by 1 for d_k = 4, expected 1/√4 = 0.5"
    )
    text = "\n".join(lines)
    assert text.count("hint: ") == 1
    assert "returned out =" in text
    assert "expected out =" in text
    assert "next: mend this, then run takehome check attention.py again" in lines
    assert "27 of 30 checks pass" in lines[-1]
    assert "The weights are (…, Tq, Tk)" not in text  # it passes


def test_the_check_of_the_broken_stage_comes_before_that_of_the_whole(no_scale):
    order = [check.id for check in first_cause_first(no_scale)]
    assert order[0] == "scale"
    assert set(order) == {"scale", "definition", "scale-effect"}


def test_what_is_written_and_wrong_comes_before_what_is_not_there_yet(write):
    lines = told(
        write(
            "import numpy as np\n\n\ndef attention(Q, K, V, mask=None):\n"
            "    scores = Q @ K.swapaxes(-1, -2)\n"
            "    e = np.exp(scores - scores.max(-1, keepdims=True))\n"
            "    return e / e.sum(-1, keepdims=True) @ V, e / e.sum(-1, keepdims=True)\n"
        )
    )
    assert lines[0].startswith("Not right yet: scores are multiplied by 1")
    missing = "✕ 3 checks: the submission does not define positional_encoding"
    assert any(line.startswith(missing) for line in lines)


def test_what_is_not_there_has_no_example(write):
    text = (SAMPLES / "numpy_attention" / "source_a.py").read_text(encoding="utf-8")
    lines = told(write(text.replace("def split_heads", "def divide_heads")))
    assert "does not define split_heads" in lines[0]
    assert not any("for example" in line for line in lines)


def test_everything_is_shown_if_asked_and_one_sentence_if_asked(no_scale):
    report = CheckReport(card=no_scale, file="a.py", is_starter=False, language=ENGLISH)
    every = msgspec.structs.replace(report, verbose=True)
    text = "\n".join(line.plain for line in every.lines())
    assert all(f"[{check.id}]" in text for check in SPEC.checks)
    assert len(list(msgspec.structs.replace(report, quiet=True).lines())) == 1


def test_an_untouched_starter_is_not_written_yet(write):
    file = write(SPEC.starter.replace("\n", "\r\n"))
    assert told(file)[0] == "Not written yet: this is the starter as it was handed out."


def test_a_function_without_a_return_is_not_written_yet(write):
    file = write("def double(x):\n    pass\n\ndef total(x):\n    return x.sum()\n")
    first, *_ = told(file, toy.SPEC)
    assert first.startswith("Not written yet, or without a return: double returns None")


def test_what_does_not_load_is_one_sentence_with_its_line(write):
    lines = told(write("import numpy as np\n\ndef attention(Q\n"))
    assert lines[0].startswith("It does not load: SyntaxError")
    assert "  attention.py, line 3: def attention(Q" in lines
    assert not [line for line in lines if line.startswith(("✕", "  hint"))]
    assert "29 could not run" in lines[-1]


def test_a_swapped_return_is_told_as_such(write):
    source = (SAMPLES / "numpy_attention" / "source_a.py").read_text(encoding="utf-8")
    file = write(source + "\n_attention = attention\ndef attention(*args):\n"
                 "    out, weights = _attention(*args)\n    return weights, out\n")  # fmt: skip
    assert told(file)[0] == (
        "A call returns something else than asked: "
        "attention returns (weights, out), expected (out, weights)"
    )


def test_checks_that_say_the_same_are_one_line(write):
    source = (SAMPLES / "numpy_attention" / "source_a.py").read_text(encoding="utf-8")
    lines = told(write(source.replace("def positional_encoding", "def encode")))
    assert sum("does not define positional_encoding" in line for line in lines) == 1


def test_what_a_save_changed_is_said(no_scale):
    passing = tuple(
        msgspec.structs.replace(check, outcome=Outcome.PASSED) for check in no_scale.result.checks
    )
    right = msgspec.structs.replace(
        no_scale, result=msgspec.structs.replace(no_scale.result, checks=passing)
    )
    now = "definition, scale, scale-effect"
    assert changed(no_scale, right, ENGLISH).plain == f"pass now: {now}"
    assert changed(right, no_scale, ENGLISH).plain == f"no longer pass: {now}"
    assert changed(right, right, ENGLISH).plain == "the same checks pass as before"


def run_pasted(code, folder):
    """Paste code into an interpreter, line by line, as a candidate does."""
    return subprocess.run(
        [sys.executable, "-P", "-c", "import code, sys; sys.path.insert(0, ''); code.interact('')"],
        input=code + "\n",
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["attention.py", "my attention.py", "class.py"])
def test_a_call_that_fails_runs_when_it_is_pasted_and_returns_what_was_told(
    no_scale, tmp_path, name
):
    (tmp_path / name).write_text(no_scale.sources[0].text, encoding="utf-8")
    (shown,) = [one for one in no_scale.evidence if one.expected][:1]
    done = run_pasted(snippet(shown, name), tmp_path)
    assert "Error" not in done.stderr
    assert f"{shown.actual['out'].values[0]:.9f}"[:7] in done.stdout


def test_an_object_is_made_and_called_when_it_is_pasted(tmp_path):
    spec = specs.load("torch_multi_head")
    file = SAMPLES / "torch_multi_head" / "wrong_mask-heads-major.py"
    card = check_file(file, spec, seed="seed")
    (tmp_path / "mine.py").write_bytes(file.read_bytes())
    shown = next(one for one in card.evidence if one.expected)
    assert shown.call.startswith("model(q, k, v")
    done = run_pasted(snippet(shown, "mine.py"), tmp_path)
    assert "Error" not in done.stderr
    assert "tensor(" in done.stdout
