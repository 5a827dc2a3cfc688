import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import harness.cli.program
import harness.commands.check_console
import specs
from harness import cli
from harness.cli import Exit

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_submissions" / "numpy_attention"
RIGHT, WRONG = SAMPLES / "source_a.py", SAMPLES / "wrong_no-scale.py"
HERE = ("--sandbox", "process")


@pytest.fixture
def takehome(capsys):
    """Run the command line in this process; return its exit code, output and errors."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return left.value.code, out, err

    return run


@pytest.fixture
def grade(takehome, tmp_path):
    """Grade paths in the process sandbox; return the exit code, output, errors and results."""

    def run(*arguments, out=None):
        folder = out or tmp_path / "out"
        asked = ("grade", *arguments, "--spec", "numpy_attention", "--out", folder)
        code, printed, err = takehome(*asked, *HERE)
        path = folder / "results.json"
        return code, printed, err, json.loads(path.read_text()) if path.exists() else None

    return run


@pytest.fixture
def folder(tmp_path):
    """A folder of two submissions and something else."""
    folder = tmp_path / "handed-in"
    folder.mkdir()
    (folder / "ada.py").write_bytes(RIGHT.read_bytes())
    (folder / "grace.py").write_bytes(WRONG.read_bytes())
    (folder / "notes.txt").write_text("hello")
    return folder


def test_everything_passed_is_0_and_every_report_is_there(grade, tmp_path):
    code, out, err, results = grade(RIGHT)
    assert code == Exit.PASSED == 0
    assert out == "passed          source_a  good, 62 of 62 points\n"
    assert "index.html\n" in err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "results.json", "results.jsonl", "results.csv", "junit.xml", "summary.md",
        "index.html", "cards",
        "ledger.sqlite", ".lock",
    }  # fmt: skip
    (submission,) = results["submissions"]
    assert (submission["id"], submission["verdict"]) == ("source_a", "passed")
    assert (tmp_path / "out" / submission["card"]).exists()


def test_something_failed_is_1_and_every_submission_is_a_plain_line(grade, folder):
    code, out, err, results = grade(folder)
    assert code == Exit.FAILED == 1
    lines = sorted(out.splitlines())
    assert lines[0].startswith("failed          grace  ")
    assert lines[1] == "passed          ada  good, 62 of 62 points"
    assert "\x1b" not in out + err
    assert "ignored: notes.txt is not" in err
    assert [one["id"] for one in results["submissions"]] == ["ada", "grace"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def treble(x): return 3 * x", id="other names"),
        pytest.param("", id="nothing"),
        pytest.param("def softmax(x:", id="a syntax error"),
        pytest.param("import nosuch.module", id="an import that is not there"),
        pytest.param("raise SystemExit(0)", id="an exit"),
        pytest.param("def attention(): return 1", id="another arity"),
        pytest.param("\0", id="a null byte"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_a_submission_that_cannot_be_right_is_1_and_the_others_are_graded(grade, folder, text):
    data = text.encode() if isinstance(text, str) else text
    (folder / "grace.py").write_bytes(data)
    code, out, _, results = grade(folder)
    assert code == Exit.FAILED
    verdicts = {one["id"]: one["verdict"] for one in results["submissions"]}
    assert verdicts["ada"] == "passed"
    assert verdicts["grace"] in ("failed", "ungradeable")
    assert len(out.splitlines()) == 2


@pytest.mark.parametrize("arguments", [("doctor",), ("clean",), ("image", "build")])
def test_no_engine_is_3_and_says_what_to_do(takehome, monkeypatch, arguments):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    code, out, err = takehome(*arguments)
    assert code == Exit.BROKEN == 3
    assert "does not answer" in out + err
    assert "start one" in out + err


def test_grading_without_an_engine_is_3_and_never_falls_back(takehome, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    code, out, err = takehome("grade", RIGHT, "--spec", "numpy_attention", "--out", tmp_path)
    assert (code, out) == (Exit.BROKEN, "")
    assert err.startswith("takehome: ")
    assert not (tmp_path / "results.json").exists()


@pytest.mark.docker
def test_a_runtime_that_the_engine_lacks_is_3_before_anything_is_graded(takehome, tmp_path):
    asked = ("grade", RIGHT, "--spec", "numpy_attention", "--out", tmp_path)
    code, out, err = takehome(*asked, "--runtime", "nosuch")
    assert (code, out) == (Exit.BROKEN, "")
    assert err.startswith("takehome: runtime is nosuch, expected one of ")
    assert not (tmp_path / "results.json").exists()


@pytest.mark.parametrize("where", ["empty", "only notes"])
def test_nothing_to_grade_is_5(grade, tmp_path, where):
    folder = tmp_path / where
    folder.mkdir()
    if where == "only notes":
        (folder / "notes.txt").write_text("hello")
    code, _, err, results = grade(folder)
    assert code == Exit.NOTHING == 5
    assert "nothing to grade" in err
    assert results is None


def paths(tmp_path):
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "file").write_text("hello")
    return tmp_path


MISTAKES = {
    "a missing path": "grade {here}/absent {spec} {out}",
    "a file of another kind": "grade {here}/text.txt {spec} {out}",
    "an unknown assignment": "grade {right} --spec nosuch {out}",
    "no assignment": "grade {right} {out}",
    "no folder for results": "grade {right} {spec}",
    "results in a file": "grade {right} {spec} --out {here}/file --sandbox process",
    "results below a file": "grade {right} {spec} --out {here}/file/o --sandbox process",
    "results where nobody may write": "grade {right} {spec} --out /proc/o --sandbox process",
    "an unknown sandbox": "grade {right} {spec} {out} --sandbox x",
    "a runtime without containers": "grade {right} {spec} {out} --sandbox process --runtime runsc",
    "no jobs": "grade {right} {spec} {out} --jobs 0",
    "jobs in words": "grade {right} {spec} {out} --jobs two",
    "unknown conventions": "grade {right} {spec} {out} --conventions x",
    "an unknown option": "grade {right} {spec} {out} --nosuch",
    "an unknown command": "nosuch",
    "no argument for grade": "grade",
    "a missing file to check": "check {here}/absent.py",
    "a missing file to check for an assignment": "check {here}/absent.py {spec}",
    "a file of no known assignment": "check {here}/file",
    "a file of another kind to check": "check {here}/text.txt {spec}",
    "a check of an unknown assignment": "check {right} --spec nosuch",
    "the brief of an unknown assignment": "brief nosuch",
    "a start of an unknown assignment": "start nosuch {here}/d",
    "a start in a file": "start numpy_attention {here}/file",
    "a start where nobody may write": "start numpy_attention /proc/d",
    "an unknown check": "explain nosuch",
    "a report of nothing": "report {here}/absent",
    "a report of a folder without results": "report {here}",
}


def test_a_pipe_and_a_link_to_nothing_are_ungradeable(grade, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "absent.py")
    code, _, _, results = grade(tmp_path / "pipe.py", tmp_path / "link.py")
    assert code == Exit.FAILED
    for submission in results["submissions"]:
        assert submission["verdict"] == "ungradeable"
        assert submission["reason"].endswith("; hand in the file itself")


@pytest.mark.parametrize("arguments", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_the_user_is_4_and_one_line(takehome, tmp_path, arguments):
    here = paths(tmp_path)
    given = {
        "here": here,
        "right": RIGHT,
        "spec": "--spec numpy_attention",
        "out": f"--out {here}/o",
    }
    code, out, err = takehome(*arguments.format(**given).split())
    assert code == Exit.USAGE == 4
    assert out == ""
    told = [line for line in err.splitlines() if not re.fullmatch(r"checking .* …", line)]
    assert len(told) == 1
    assert told[0].startswith("takehome: ")
    assert not (here / "o" / "results.json").exists()


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"schema":"takehome/99"}', b"\xff"])
def test_results_that_cannot_be_read_are_4(takehome, tmp_path, content):
    (tmp_path / "results.json").write_bytes(content)
    code, _, err = takehome("report", tmp_path)
    assert code == Exit.USAGE
    assert "grade again" in err


def test_no_arguments_show_the_help(takehome):
    code, out, err = takehome()
    assert code == Exit.USAGE
    assert "Usage" in out + err
    assert "takehome: " not in err


COMMANDS = ("grade", "check", "specs", "brief", "start", "explain", "report", "doctor", "clean")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS), ("image", "build")])
def test_help_is_0(takehome, command):
    code, out, _ = takehome(*command, "--help")
    assert code == 0
    assert "Usage" in out


def test_a_seed_given_is_the_seed_of_the_results_and_draws_the_same_inputs(grade, tmp_path):
    out = [grade(WRONG, "--seed", "abc", out=tmp_path / name)[3] for name in ("one", "two")]
    checks = [[c["message"] for c in results["submissions"][0]["checks"]] for results in out]
    assert out[0]["seed"] == out[1]["seed"] == "abc"
    assert checks[0] == checks[1]


def test_a_seed_is_fresh_where_none_is_given(grade, tmp_path):
    seeds = {grade(RIGHT, out=tmp_path / name)[3]["seed"] for name in ("one", "two")}
    assert len(seeds) == 2


def test_a_folder_is_one_submission_if_asked(grade, folder):
    (folder / "grace.py").unlink()
    code, _, _, results = grade(folder, "--single")
    assert code == Exit.PASSED
    assert [one["id"] for one in results["submissions"]] == ["handed-in"]


@pytest.mark.parametrize("options", [("--jobs", "1"), ("--jobs", "4", "--reuse")])
def test_jobs_and_reuse_change_no_result(grade, folder, options):
    code, _, _, results = grade(folder, *options)
    assert code == Exit.FAILED
    assert [one["verdict"] for one in results["submissions"]] == ["passed", "failed"]


def test_another_mask_is_understood_if_asked_and_fails_if_not(grade, tmp_path):
    blocked = tmp_path / "blocked.py"
    text = RIGHT.read_text().replace("def attention(Q, K, V, mask=None):", (
        "def attention(Q, K, V, mask=None):\n"
        "    mask = None if mask is None else ~mask\n"
        "    return kept(Q, K, V, mask)\n\n\n"
        "def kept(Q, K, V, mask=None):"
    ))  # fmt: skip
    assert "def kept" in text
    blocked.write_text(text)
    strict = grade(blocked, out=tmp_path / "strict")[3]["submissions"][0]
    adapted = grade(blocked, "--conventions", "adapt", out=tmp_path / "adapt")[3]["submissions"][0]
    outcomes = [{c["id"]: c["outcome"] for c in one["checks"]} for one in (strict, adapted)]
    assert outcomes[0]["mask-polarity"] == "failed"
    assert outcomes[1]["mask-before-softmax"] == "passed"
    assert adapted["conventions"]


def test_a_report_renders_the_same_bytes_again(takehome, grade, folder, tmp_path):
    grade(folder)
    out = tmp_path / "out"
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for path in before:
        if path.suffix in (".html", ".csv", ".xml", ".md"):
            path.unlink()
    code, _, err = takehome("report", out)
    assert code == 0
    assert err == f"scorecards: {out / 'index.html'}\n"
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_cards_for_candidates_are_all_that_is_written_for_them(grade, folder, tmp_path):
    code, printed, err, results = grade(folder, "--audience", "candidate", "--seed", "canary")
    out = tmp_path / "out"
    assert code == Exit.FAILED
    assert results is None
    assert f"cards for the candidates: {out / 'candidate'}\n" in err
    assert not (out / "results.json").exists()
    assert files(out / "cards") == set()
    out = out / "candidate"
    assert {name.split("-")[0] for name in files(out)} == {"ada", "grace"}
    assert {Path(name).suffix for name in files(out)} == {".html", ".json"}
    assert "not divided by" not in printed
    for name in files(out):
        text = (out / name).read_text()
        assert "canary" not in text
        assert ("grace" in text) != ("ada" in text)


def test_cards_for_candidates_can_be_made_later_and_leave_the_others_alone(
    takehome, grade, folder, tmp_path
):
    grade(folder, "--seed", "canary")
    out = tmp_path / "out"
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    code, _, err = takehome("report", out, "--audience", "candidate")
    assert (code, err) == (0, f"cards for the candidates: {out / 'candidate'}\n")
    after = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert before.items() <= after.items()
    new = [path for path in after if path not in before]
    assert {path.parent for path in new} == {out / "candidate"}
    assert not [path for path in new if b"canary" in after[path]]


def test_a_candidate_checks_a_right_file_with_0_and_a_wrong_one_with_1(takehome):
    code, out, _ = takehome("check", RIGHT, "--spec", "numpy_attention")
    count = len(specs.load("numpy_attention").checks)
    assert code == 0
    assert out.splitlines()[0] == "Right: every check passes."
    assert f"{count} of {count} checks pass; level good" in out
    code, out, _ = takehome("check", WRONG)
    assert code == 1
    assert out.splitlines()[0].startswith("Not right yet: scores are multiplied by 1 for d_k = 4")
    assert "no scale" not in out


def test_a_file_is_checked_again_when_it_changes(takehome, monkeypatch):
    monkeypatch.setattr(harness.commands.check_console, "changes", lambda file: iter((None, None)))
    code, out, _ = takehome("check", RIGHT, "--watch")
    assert code == 0
    assert out.count("Right: every check passes.") == 2
    assert out.count("the same checks pass as before") == 1


def test_every_assignment_is_listed_and_has_a_brief(takehome):
    code, out, _ = takehome("specs")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(specs.TITLES)
    for name in specs.TITLES:
        code, out, _ = takehome("brief", name)
        assert code == 0
        assert out.startswith("#")


def test_an_assignment_is_started_once_and_nothing_is_overwritten(takehome, tmp_path):
    folder = tmp_path / "mine"
    code, out, err = takehome("start", "numpy_attention", folder)
    assert (code, out) == (0, "")
    assert err.splitlines()[:3] == [
        f"wrote {folder / name}" for name in ("brief.md", "numpy_attention.py", "README.md")
    ]
    assert "pip wheel --no-deps" in err
    (folder / "numpy_attention.py").write_text("my work")
    (folder / "README.md").unlink()
    code, _, err = takehome("start", "numpy_attention", folder)
    assert code == Exit.USAGE
    assert err == (
        f"takehome: {folder} has brief.md, numpy_attention.py already; choose another folder\n"
    )
    assert (folder / "numpy_attention.py").read_text() == "my work"
    assert not (folder / "README.md").exists()


def test_a_check_is_explained(takehome):
    code, out, _ = takehome("explain", "scale")
    assert code == 0
    assert out.startswith("Scores are divided by √d_k before the softmax.\n")
    assert "\nRemedy: " in out
    assert "\nnumpy_attention: level pass, 3 points\n" in out
    assert "\nFails for\n- " in out


def test_a_mistake_is_explained_by_its_id(takehome):
    code, out, _ = takehome("explain", "no-scale")
    assert code == 0
    assert "not divided by √d_k" in out
    assert "Question: " in out
    assert "numpy_attention: fails definition" in out


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("brief numpy_atention", "numpy_attention"),
        ("explain no-scal", "no-scale"),
        ("briev", "brief"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(takehome, arguments, meant):
    code, _, err = takehome(*arguments.split())
    assert code == 4
    assert re.search(f"[Dd]id you mean .?{meant}", err)


def test_the_version_is_that_of_the_package(takehome):
    code, out, _ = takehome("--version")
    assert code == 0
    assert out == f"takehome {importlib.metadata.version('takehome')}\n"


def test_every_check_can_be_explained(takehome):
    ids = {check.id for name in specs.TITLES for check in specs.load(name).checks}
    for identifier in ids:
        code, out, _ = takehome("explain", identifier)
        assert code == 0
        assert out.strip()


@pytest.mark.parametrize(
    ("names", "spec"),
    [
        (("softmax", "attention"), "numpy_attention"),
        (("scaled_dot_product_attention",), "torch_sdpa"),
        (("sinusoidal", "rotary"), "positional_encoding"),
    ],
)
def test_a_file_is_recognised_by_what_it_defines(tmp_path, names, spec):
    file = tmp_path / "answer.py"
    file.write_text("".join(f"def {name}(x):\n    pass\n" for name in names))
    assert specs.recognise(file) == spec


def test_a_file_that_fits_two_assignments_is_asked_about(takehome, tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("def attention(Q, K, V):\n    pass\n")
    code, _, err = takehome("check", file)
    assert code == Exit.USAGE
    assert "fits numpy_attention and online_softmax; say which assignment it is with --spec" in err


def command(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for(path, process):
    until = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


#: Says that it is being called, and waits until there is a file that lets it go on.
WAITING = """
import os, time
def attention(Q, K, V, mask=None):
    if not os.path.exists({go_on!r}):
        open({writing!r}, "w").write(str(os.getpid()))
        os.rename({writing!r}, {started!r})
    while not os.path.exists({go_on!r}):
        time.sleep(0.01)
    raise ValueError
"""


@pytest.fixture
def waiting(tmp_path):
    """Start grading a folder of which the first submission waits until ``go_on`` is there."""
    names = {name: str(tmp_path / name) for name in ("writing", "started", "go_on")}
    folder = tmp_path / "handed-in"
    folder.mkdir()
    (folder / "a.py").write_text(WAITING.format(**names))
    for name in ("b", "c", "d", "e"):
        (folder / f"{name}.py").write_bytes(RIGHT.read_bytes())
    asked = ("--spec", "numpy_attention", "--out", tmp_path / "out", "--jobs", "1", *HERE)
    process = command("grade", folder, *asked, preexec_fn=heed_signals)
    with process:
        wait_for(tmp_path / "started", process)
        yield process
        process.kill()


def heed_signals():
    """Let a process end by what a shell in the background, or nohup, has its children ignore."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT] * 2])
def test_a_run_that_is_stopped_at_once_is_2_and_leaves_nothing_running(waiting, tmp_path, signals):
    for number, sent in enumerate(signals):
        if number:  # two that wait together are one
            assert waiting.stderr.readline().startswith("interrupted: what runs is finished")
        waiting.send_signal(sent)
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == Exit.INTERRUPTED == 2
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in out + err
    gone(int((tmp_path / "started").read_text()))
    assert not (tmp_path / "out" / "results.json").exists()


def gone(pid):
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_an_interrupt_finishes_what_runs_and_the_same_command_grades_the_rest(
    waiting, takehome, tmp_path
):
    waiting.send_signal(signal.SIGINT)
    first = waiting.stderr.readline()
    (tmp_path / "go_on").touch()
    out, err = waiting.communicate(timeout=60)
    assert first.startswith("interrupted: what runs is finished")
    assert waiting.returncode == Exit.INTERRUPTED
    assert "Traceback" not in out + err
    assert "graded: 2 of 5; run the same command again for the others" in err
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [one["id"] for one in results["submissions"]] == ["a", "b"]
    times = [(one["id"], one["seconds"]) for one in results["submissions"]]
    asked = ("--spec", "numpy_attention", "--out", tmp_path / "out", *HERE)
    code, _, _ = takehome("grade", tmp_path / "handed-in", *asked)
    assert code == Exit.FAILED
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    again = [(one["id"], one["seconds"]) for one in results["submissions"]]
    assert [name for name, _ in again] == ["a", "b", "c", "d", "e"]
    assert again[:2] == times


def test_a_run_that_is_killed_goes_on_and_its_reports_are_those_of_one_that_was_not(
    waiting, takehome, tmp_path
):
    asked = ("--spec", "numpy_attention", *HERE)
    (tmp_path / "go_on").touch()
    wait_for_cards(tmp_path / "out" / "cards", 2)
    waiting.kill()
    waiting.wait()
    for out in ("out", "whole"):
        seed = () if out == "out" else ("--seed", reports_of(tmp_path / "out")[1])
        code, _, err = takehome(
            "grade", tmp_path / "handed-in", *asked, "--out", tmp_path / out, *seed
        )
        assert (code, "Traceback" in err) == (Exit.FAILED, False)
    (resumed, seed), (whole, same_seed) = (reports_of(tmp_path / out) for out in ("out", "whole"))
    assert seed == same_seed
    assert [name for name in whole if resumed.get(name) != whole[name]] == []
    assert resumed.keys() == whole.keys()


def wait_for_cards(folder, count):
    until = time.monotonic() + 60
    while len(list(folder.glob("*.html"))) < count:
        assert time.monotonic() < until
        time.sleep(0.01)


def reports_of(out):
    """The reports of a folder without their times, and its seed."""
    texts = {}
    for path in sorted(out.rglob("*.*")):
        if path.suffix in (".json", ".html", ".csv", ".xml", ".md"):
            text = path.read_text()
            text = re.sub(r'"seconds": [\d.e-]+', "", text)
            text = re.sub(r'"(?:started|finished|graded)": "[^"]*"', "", text)
            text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", text)
            text = re.sub(r'time="[\d.]+"|(?:&lt; )?[\d.]+ (?:s|ms)\b|,\d+\.\d+\b', "", text)
            texts[str(path.relative_to(out))] = text
    return texts, json.loads((out / "results.json").read_text())["seed"]


def test_only_what_has_changed_is_graded_again_and_what_has_gone_is_removed(grade, folder):
    before = times(grade(folder)[3])
    (folder / "grace.py").write_bytes(RIGHT.read_bytes())
    (folder / "new.py").write_bytes(RIGHT.read_bytes())
    code, _, _, results = grade(folder)
    assert code == Exit.PASSED
    assert times(results)["ada"] == before["ada"]
    (folder / "ada.py").unlink()
    out = folder.parent / "out"
    _, _, _, results = grade(folder)
    pages = {one["card"] for one in results["submissions"]}
    assert {f"cards/{path.name}" for path in (out / "cards").glob("*.html")} == pages
    assert len(list((out / "cards").glob("*.json"))) == 2


def times(results):
    return {one["id"]: (one["seconds"], one["sha256"]) for one in results["submissions"]}


def test_a_fresh_run_has_another_seed_and_grades_everything_again(grade, folder):
    before = grade(folder)[3]
    kept, fresh = grade(folder)[3], grade(folder, "--fresh")[3]
    assert (kept["seed"], times(kept)) == (before["seed"], times(before))
    assert fresh["seed"] != before["seed"]


def test_results_with_the_seed_are_for_their_owner_alone(grade, tmp_path):
    grade(RIGHT)
    names = ("results.json", "ledger.sqlite")
    assert [(tmp_path / "out" / name).stat().st_mode & 0o777 for name in names] == [0o600] * 2


def test_a_folder_that_another_run_holds_is_4(waiting, takehome, tmp_path):
    asked = ("grade", RIGHT, "--spec", "numpy_attention", "--out", tmp_path / "out", *HERE)
    code, _, err = takehome(*asked)
    assert code == Exit.USAGE == 4
    assert f"is held by process {waiting.pid}, which began at" in err


def test_a_defect_of_ours_is_3_and_tells_where(capsys):
    def break_down():
        raise ZeroDivisionError("ours")

    assert harness.cli.program.run(break_down) == Exit.BROKEN == 3
    assert capsys.readouterr().err.splitlines()[-1] == "ZeroDivisionError: ours"


def test_a_reader_that_stops_reading_is_no_traceback():
    process = command("explain", "scale")
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(60)
    process.stderr.close()


LIGHT = """
import sys
from harness.cli import main
try:
    main({arguments!r})
except SystemExit:
    pass
heavy = [name for name in {heavy!r} if name in sys.modules]
print("loaded:", *heavy)
"""


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], ["torch", "docker", "jinja2", "nbformat", "specs.reference"]),
        (["specs"], ["torch", "docker", "jinja2", "nbformat", "specs.reference"]),
        (["brief", "torch_sdpa"], ["torch", "docker", "jinja2"]),
        (["explain", "scale"], ["torch", "docker", "jinja2"]),
        (["grade", str(RIGHT), "--spec", "numpy_attention", "--out", "{out}", *HERE], ["torch"]),
        (["check", str(RIGHT)], ["torch", "docker"]),
    ],
    ids=["help", "specs", "brief", "explain", "grade", "check"],
)
def test_a_command_loads_only_what_it_needs(tmp_path, arguments, heavy):
    arguments = [argument.format(out=tmp_path / "out") for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(arguments=arguments, heavy=heavy)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.splitlines()[-1] == "loaded:"
