import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from specs import load

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_submissions" / "numpy_attention"
SPEC = load("numpy_attention")
POINTS = {check.id: str(check.points) for check in SPEC.checks}
SOFTMAX = [name for name in POINTS if name.startswith("softmax")]


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    file = tmp_path / "attention.py"
    file.write_bytes((SAMPLES / "right_einsum.py").read_bytes())
    return file


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as its user does, with the plugin that is installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def arguments(file: Path) -> list[str]:
    return ["--takehome-spec", "numpy_attention", "--submission", str(file)]


def test_every_check_is_an_item_with_its_outcome_points_and_level(submission: Path) -> None:
    report = submission.with_name("junit.xml")
    source = submission.read_text(encoding="utf-8")
    submission.write_text(source.replace("def attention", "def attend"), encoding="utf-8")
    done = run_pytest(submission.parent, *arguments(submission), f"--junitxml={report}")
    assert done.returncode == 1, done.stdout + done.stderr
    cases = {case.get("name"): case for case in ElementTree.parse(report).iter("testcase")}
    assert list(cases) == list(POINTS)
    properties = {one.get("name"): one.get("value") for one in cases["definition"].iter("property")}
    assert properties == {"level": "pass", "points": POINTS["definition"]}
    assert cases["definition"].find("failure") is not None
    assert "does not define attention" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_selection_runs_on_several_workers(submission: Path) -> None:
    chosen = " or ".join(SOFTMAX)
    done = run_pytest(submission.parent, *arguments(submission), "-k", chosen, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(SOFTMAX)} passed" in done.stdout


def test_what_does_not_load_fails_once_and_the_rest_is_skipped(submission: Path) -> None:
    submission.write_text("def attention(\n", encoding="utf-8")
    done = run_pytest(submission.parent, *arguments(submission), "-rs")
    assert f"1 failed, {len(POINTS) - 1} skipped" in done.stdout
    assert "SyntaxError" in done.stdout


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--submission", "attention.py"], "go together"),
        (["--takehome-spec", "numpy_attention"], "go together"),
        (["--takehome-spec", "numpy_atention", "--submission", "attention.py"], "did you mean"),
        (["--takehome-spec", "numpy_attention", "--submission", "gone.py"], "expected a file"),
    ],
)
def test_a_mistake_in_the_options_is_one_line(
    submission: Path, wrong: list[str], message: str
) -> None:
    done = run_pytest(submission.parent, *wrong)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_without_its_options_the_plugin_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import json, sys\n"
        "def test_modules():\n"
        "    loaded = [name for name in ('numpy', 'torch', 'msgspec', 'specs') "
        "if name in sys.modules]\n"
        "    assert json.dumps(loaded) == '[]'\n",
        encoding="utf-8",
    )
    done = run_pytest(tmp_path, "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout
