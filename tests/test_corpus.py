"""The corpus: patches that fit, bases that are used, and files that can be graded."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import corpus
from tests.corpus import patches

PATCH = "--- base.py\n+++ wrong_scale.py\n@@ -2 +2,2 @@\n-two\n+deux\n+trois\n"


def test_a_patch_replaces_the_lines_that_it_names():
    assert patches.names(PATCH) == ("base.py", "wrong_scale.py")
    assert patches.apply("one\ntwo\nthree\n", PATCH) == "one\ndeux\ntrois\nthree\n"


def test_a_patch_can_remove_the_newline_at_the_end():
    patch = "--- base.py\n+++ wrong_end.py\n@@ -2,2 +2 @@\n-two\n-\n+two\n"
    assert patches.apply("one\ntwo\n", patch) == "one\ntwo"


@pytest.mark.parametrize("base", ["one\nTWO\nthree\n", "two\n", "zero\none\ntwo\n"])
def test_a_patch_is_refused_where_a_line_is_not_at_its_place(base):
    with pytest.raises(patches.PatchMismatch, match="line 2 of the base is not 'two'"):
        patches.apply(base, PATCH)


def test_a_line_of_no_hunk_is_refused():
    with pytest.raises(patches.PatchMismatch, match="no line of a unified diff"):
        patches.apply("one\ntwo\n", PATCH + "diff --git\n")


def test_every_base_is_changed_by_a_patch():
    for assignment in corpus.assignments():
        folder = corpus.CORPUS / assignment
        named = {patches.names(path.read_text("utf-8"))[0] for path in folder.glob("*/*.patch")}
        assert {path.name for path in folder.glob("bases/*")} <= named


def test_the_command_writes_a_folder_per_assignment(tmp_path: Path):
    command = [sys.executable, "-m", "tests.corpus", "write", str(tmp_path)]
    root = corpus.CORPUS.parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    written = [path for path in tmp_path.glob("*/*") if path.name != "expected.toml"]
    assert done.stdout.startswith(f"{len(written)} cases of {len(corpus.assignments())} assign")
    assert {path.parent.name for path in written} == set(corpus.assignments())
