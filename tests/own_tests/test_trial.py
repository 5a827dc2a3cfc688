"""Tests that candidates hand in, run in the container that they would run in."""

from pathlib import Path

import pytest

import specs
from harness.intake.source_tree import SourceFile
from harness.intake.submission import Submission
from harness.own_tests import SECONDS, run_own_tests
from harness.results import OwnTests, OwnTestsRemark
from harness.sandbox.base import LIMITS
from harness.sandbox.container import OwnTestsImage, prepare_test_image
from harness.spec import Spec

pytestmark = pytest.mark.docker

HANDED_IN = Path(__file__).parent / "handed_in"
SPEC = specs.load("numpy_attention")
SOLUTION = "raise SystemExit('a solution that does not load')\n"


@pytest.fixture(scope="module")
def image() -> OwnTestsImage:
    return prepare_test_image("numpy", LIMITS["numpy"], runtime=None)


def tried(image: OwnTestsImage, tests: str, spec: Spec = SPEC, **others: str) -> OwnTests:
    files = {"solution.py": SOLUTION, "test_solution.py": tests, **others}
    submission = Submission(
        id="ann",
        sha256="",
        origin="script",
        entry="solution.py",
        files=tuple(SourceFile(name=name, data=text.encode()) for name, text in files.items()),
        notes=(),
    )
    with image.open(SECONDS) as container:
        return run_own_tests(submission, spec, container)


def handed_in(name: str) -> str:
    return (HANDED_IN / f"{name}.py.txt").read_text(encoding="utf-8")


def test_good_tests_find_every_known_bug(image):
    told = tried(image, handed_in("good"))
    assert (told.collected, told.passing, told.failing) == (10, 10, ())
    assert [bug.id for bug in told.missed] == []
    assert len(told.found) == told.known == 40
    assert told.remark is OwnTestsRemark.NONE


@pytest.mark.slow
def test_useless_tests_find_nothing(image):
    told = tried(image, handed_in("useless"))
    assert (told.passing, len(told.found), len(told.missed)) == (2, 0, 40)


def test_hostile_tests_can_lie_about_themselves_and_nothing_else(image):
    told = tried(image, handed_in("hostile"))
    assert told.found == ()
    assert len(told.missed) <= 40
    assert all(name.isprintable() for name in told.failing)


def test_a_test_that_a_right_answer_fails_is_left_out_and_named(image):
    tests = (
        "from solution import causal_mask\n"
        "def test_right(): assert causal_mask(2).tolist() == [[1, 0], [1, 1]]\n"
        "def test_of_another_convention(): assert causal_mask(2).tolist() == [[0, 1], [0, 0]]\n"
    )
    told = tried(image, tests)
    assert (told.collected, told.passing) == (2, 1)
    assert told.failing == ("test_solution.py::test_of_another_convention",)
    assert {bug.id for bug in told.found} == {
        "causal-triu", "causal-no-diagonal", "causal-one-ahead", "causal-swapped",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tests", "remark"),
    [
        ("import matplotlib\n", OwnTestsRemark.NOT_READ),
        ("def test_nothing(): assert True\n", OwnTestsRemark.NEVER_CALLED),
        ("import solution\ndef test_it(): assert solution.softmax(0) == 5\n", "none_pass"),
        ("import os\nos._exit(0)\n", OwnTestsRemark.ENDED),
    ],
    ids=["not-read", "never-called", "none-passes", "ended"],
)
def test_tests_that_tell_nothing_are_remarked_on(image, tests, remark):
    told = tried(image, tests)
    assert told.remark == remark
    assert not told.found


@pytest.mark.slow
def test_helpers_of_the_submission_stay_and_what_the_brief_names_is_replaced(image):
    tests = (
        "from solution import ours\nfrom model.masks import causal_mask, own\n"
        "def test_it():\n    assert ours() == own() == 1\n    assert causal_mask(2)[1, 0]\n"
    )
    model = "def own(): return 1\ndef causal_mask(n): raise NotImplementedError\n"
    solution = "from model.masks import causal_mask\ndef ours(): return 1\n"
    told = tried(image, tests, **{"model/masks.py": model, "solution.py": solution})
    assert told.passing == 1
    assert {bug.id for bug in told.found} == {"causal-triu", "causal-swapped"}


HOSTILE = {
    "never-ends": "import time\ndef test_it(): causal_mask(2); time.sleep(1000)\n",
    "forks": (
        "import os\ndef test_it():\n    while True:\n        try: os.fork()\n"
        "        except OSError: causal_mask(2)\n"
    ),
    "takes-all-memory": "def test_it(): x = [bytearray(1 << 26) for _ in range(100)]\n",
    "floods-the-log": (
        "import os\ndef test_it():\n    causal_mask(2)\n    log = os.open('/proc/1/fd/2', 1)\n"
        "    while True: os.write(log, b'x' * 65536)\n"
    ),
    "reports-what-is-no-report": (
        "import os\ndef test_it():\n    for d in range(3, 64):\n"
        "        try: os.write(d, b'[' * 60000)\n        except OSError: pass\n    os._exit(0)\n"
    ),
    "fills-the-disk": "def test_it(): open('/tmp/x', 'wb').write(b'x' * (200 << 20))\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_whatever_tests_do_they_end_in_time_and_find_nothing(image, body):
    told = tried(image, f"from solution import causal_mask\n{body}")
    assert (told.found, told.missed) == ((), ())
    assert told.remark


@pytest.mark.slow
def test_tests_in_torch_that_compare_with_its_own_find_what_changes_values_and_gradients():
    tests = (HANDED_IN / "torch.py.txt").read_text(encoding="utf-8")
    image = prepare_test_image("torch", LIMITS["torch"], runtime=None)
    told = tried(image, tests, specs.load("torch_sdpa"))
    assert (told.collected, told.passing, told.failing) == (5, 5, ())
    assert told.remark is OwnTestsRemark.NONE
    assert len(told.found) + len(told.missed) == told.known
    assert {bug.id for bug in told.missed} <= {
        "fill-overflows-half", "float-mask-compared", "scale-constant", "dropout-renormalised",
        "returns-float32",
    }  # fmt: skip
