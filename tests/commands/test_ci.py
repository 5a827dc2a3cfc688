import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import reports
from harness.candidate_view import CandidateCard, CandidateCheck
from harness.commands.ci import Job, grade_change
from harness.commands.ci_init import KINDS, write_ci
from harness.commands.repository import Repository
from harness.errors import UnknownName, UsageError
from harness.results import Level, Outcome, Verdict
from reports.placed import PlacedCard, render_annotations, render_placed_summary, render_sarif

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_submissions" / "numpy_attention"
SETTINGS = """\
[[assignment]]
path = "submissions"
spec = "numpy_attention"
"""
#: What a change may bring to be imported by whoever is careless.
TRAP = "import pathlib\npathlib.Path({marker!r}).touch()\n"
TRAPS = (
    "numpy.py", "conftest.py", "sitecustomize.py", "signal.py", "struct.py", "harness/__init__.py",
    "specs/__init__.py", "reports/__init__.py", "harness/cli/program.py",
)  # fmt: skip


def git(folder, *arguments):
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def takehome(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-m", "harness.cli", "ci", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def change(tmp_path_factory):
    """A repository whose branch ``change`` brings a wrong file, a loud one, and traps."""
    root = tmp_path_factory.mktemp("repository")
    (root / "submissions").mkdir()
    (root / "takehome.toml").write_text(SETTINGS, encoding="utf-8")
    (root / "submissions" / "ada.py").write_bytes((SAMPLES / "source_a.py").read_bytes())
    git(root, "init", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--message", "Begin")
    git(root, "switch", "--create", "change")
    (root / "takehome.toml").write_text('spec = "torch_sdpa"\n', encoding="utf-8")
    for name in TRAPS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        marker = str(root.parent / f"{root.name}-imported")
        (root / name).write_text(TRAP.format(marker=marker), encoding="utf-8")
    (root / "submissions" / "grace.py").write_bytes((SAMPLES / "wrong_no-scale.py").read_bytes())
    (root / "submissions" / "eve.py").write_text(
        "def attention(Q, K, V, mask=None):\n"
        "    raise ValueError('::error::forged\\n::set-env name=A::b ##[command]x')\n",
        encoding="utf-8",
    )
    git(root, "add", "--all")
    git(root, "commit", "--message", "Hand in")
    return root


@pytest.fixture(scope="module")
def graded(change, tmp_path_factory):
    """What ``takehome ci`` made of the change, on GitHub."""
    out = tmp_path_factory.mktemp("out")
    asked = ("--base", "main", "--sandbox", "process", "--out", out)
    done = takehome(change, *asked, GITHUB_ACTIONS="true")
    assert done.returncode == 1, done.stderr
    return done, out


def test_what_changed_is_graded_by_the_settings_of_the_base(graded):
    _, out = graded
    results = reports.load(out / "private" / "numpy-attention-submissions")
    assert {one.id for one in results.submissions} == {"eve", "grace"}
    assert results.specs == ("numpy_attention",)


def test_nothing_of_the_repository_is_imported(graded, change):
    assert not (change.parent / f"{change.name}-imported").exists()


def test_nothing_public_has_a_seed_an_expected_value_an_answer_or_a_bug(graded):
    done, out = graded
    private = out / "private" / "numpy-attention-submissions"
    results = reports.load(private)
    secret = {results.seed}
    for card in reports.load_cards(results, private):
        given = {v for one in card.evidence for a in one.inputs.values() for v in a.values}
        secret |= {
            repr(value)[:10]
            for one in card.evidence
            for array in one.expected.values()
            for value in array.values
            if value not in given and len(repr(value)) >= 10
        }
        secret |= {bug.title for bug in card.result.diagnosis}
        secret |= {q.answer for bug in card.result.diagnosis for q in bug.questions}
        secret |= {check.answer for check in card.result.checks if check.answer}
    assert len(secret) > 5
    texts = [path.read_text(encoding="utf-8") for path in out.glob("public/**/*") if path.is_file()]
    assert len(texts) > 4
    for text in (*texts, done.stdout, done.stderr):
        assert not [one for one in secret if one in text]


def test_findings_have_the_file_and_the_line(graded):
    _, out = graded
    cases = ElementTree.parse(out / "public" / "junit.xml").iter("testcase")
    (raised, *_) = [case for case in cases if case.find("failure[@type='raised']") is not None]
    assert (raised.get("file"), raised.get("line")) == ("submissions/eve.py", "2")
    log = json.loads((out / "public" / "results.sarif").read_text(encoding="utf-8"))
    places = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    }
    assert places == {"submissions/eve.py", "submissions/grace.py"}


def test_no_text_of_a_candidate_is_a_command_of_the_runner(graded):
    done, _ = graded
    stopped = ""
    for line in done.stdout.splitlines():
        if stopped:
            stopped = "" if line == f"::{stopped}::" else stopped
        elif found := re.fullmatch(r"::stop-commands::(\w{32})", line):
            stopped = found[1]
        else:
            assert re.match(r"::(error|warning) file=submissions/(eve|grace)\.py,line=\d+,", line)
            assert "##[" not in line


def test_a_change_of_nothing_that_is_graded_is_5(change, tmp_path):
    asked = ("--base", "HEAD", "--sandbox", "process", "--out", tmp_path)
    assert takehome(change, *asked).returncode == 5


@pytest.mark.parametrize("base", ["nosuch", "--output=x", "main; touch x"])
def test_a_base_that_is_none_is_the_users_mistake(change, base):
    with pytest.raises(UsageError, match="git rev-parse"):
        Repository(change, base)
    assert not (change / "x").exists()


def test_a_spec_in_the_repository_is_refused(change, tmp_path):
    job = Job(
        folder=change,
        base="main",
        spec="specs/mine.py",
        out=tmp_path,
        sandbox="process",
        on_github=False,
    )
    with pytest.raises(UsageError, match="of which ci imports nothing"):
        grade_change(job, print, print)


def card(**fields):
    check = CandidateCheck(
        id="c",
        title="T.",
        outcome=Outcome.RAISED,
        level=Level.PASS,
        points=1,
        earned=0,
        message=fields.pop("message", "m"),
    )
    usual = {"spec": "s", "title": "t", "id": "i", "verdict": Verdict.FAILED, "checks": (check,)}
    return PlacedCard(card=CandidateCard(**(usual | fields)), path="a b,c:d/é.py")


def test_a_message_of_several_lines_is_one_annotation():
    text = render_annotations([card(message="one\n::error::two\r100 % ##[group]")])
    assert text == (
        "::error file=a b%2Cc%3Ad/é.py,line=1,title=T.::one%0A::error::two%0D100 %25 # #[group]\n"
    )


def test_a_path_is_an_address_in_sarif():
    log = json.loads(render_sarif([card()]))
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b%2Cc%3Ad/%C3%A9.py"
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]] == ["c"]


def test_a_summary_links_to_nothing_and_shows_text_as_code():
    text = render_placed_summary([card(message="[x](http://y) @z | <b>")])
    assert not re.search(r"\]\((?!http://y)", text)
    assert "`[x](http://y) @z │ <b>`" in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_is_written_once(kind, tmp_path):
    path = write_ci(kind, tmp_path, "takehome@git+https://example.org/takehome@0123")
    text = path.read_text(encoding="utf-8")
    assert "pull_request_target" not in re.sub(r"#.*", "", text)
    assert not re.search(r"\$(install|\$)", text)
    with pytest.raises(UsageError, match="is there already"):
        write_ci(kind, tmp_path, "x")


def test_a_github_job_can_read_only_and_runs_no_text_of_a_change(tmp_path):
    text = write_ci("github", tmp_path, "takehome").read_text(encoding="utf-8")
    assert "permissions:\n  contents: read\n" in text
    assert "persist-credentials: false" in text
    assert "secrets." not in text
    shell = re.findall(r"run: (?:\|\n((?:          .*\n)+)|(.*))", text)
    assert shell
    for lines in shell:
        assert not [expression for expression in re.findall(r"\$\{\{.*?\}\}", "".join(lines))
                    if "steps.images" not in expression]  # fmt: skip


def test_an_unknown_kind_names_the_nearest(tmp_path):
    with pytest.raises(UnknownName, match="did you mean github"):
        write_ci("githb", tmp_path, "x")
