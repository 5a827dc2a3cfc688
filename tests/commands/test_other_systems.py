"""What a candidate uses on Windows and macOS, on a Linux that lacks what these lack.

Nothing here has been tried on the systems themselves.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import specs
from tests import toy

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_submissions" / "numpy_attention"

#: Python runs this before anything else: in the command, and in the candidate's process.
HIDING = """
import os, signal, socket, subprocess, sys, sysconfig

HIDDEN = {"resource", "fcntl", "pwd", "grp", "termios", "torch", "docker", "libcst"}


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
kill = int(signal.SIGKILL)
subprocess.Popen.kill = lambda self: self.send_signal(kill)
for owner, names in (
    (os, "fork killpg setsid sched_getaffinity statvfs set_blocking "
         "O_NOFOLLOW O_NONBLOCK O_DIRECTORY"),
    (signal, "SIGKILL SIGHUP SIGCHLD SIGSTOP"),
    (socket, "AF_UNIX"),
):
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)
os.supports_dir_fd.clear()
os.supports_fd.clear()
sysconfig.get_config_vars()  # its file goes by the name of the platform
sys.platform = "elsewhere"
"""


@pytest.fixture(scope="module")
def takehome(tmp_path_factory):
    """Run a command where those are hidden and the console knows Western European letters."""
    hiding = tmp_path_factory.mktemp("hiding")
    (hiding / "sitecustomize.py").write_text(HIDING, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(hiding), str(ROOT))),
        "PYTHONIOENCODING": "cp1252",
        "LC_ALL": "C",
    }

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "harness.cli", *map(str, arguments)],
            cwd=hiding,
            env=environment,
            capture_output=True,
            encoding="cp1252",
            check=False,
            timeout=120,
        )

    return run


def test_a_wrong_file_with_windows_line_ends_is_told_what_is_wrong(takehome, tmp_path):
    file = tmp_path / "attention.py"
    text = (SAMPLES / "wrong_no-scale.py").read_text(encoding="utf-8")
    file.write_bytes(text.replace("\n", "\r\n").encode())
    done = takehome("check", file, "--spec", "numpy_attention")
    assert done.returncode == 1, done.stderr
    assert "expected 1/sqrt 4 = 0.5" in done.stdout.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_a_right_file_passes(takehome):
    done = takehome("check", SAMPLES / "source_a.py", "--spec", "numpy_attention")
    assert done.stdout.splitlines()[0] == "Right: every check passes.", done.stderr
    assert done.returncode == 0


@pytest.mark.slow  # three deadlines of 5 s, spent in the loop
def test_a_deadline_ends_an_endless_loop(takehome, tmp_path):
    source = Path(toy.__file__).read_text(encoding="utf-8")
    (tmp_path / "toy_spec.py").write_text(source, encoding="utf-8")
    file = tmp_path / "answer.py"
    file.write_text("def double(x):\n    while True: pass\n\ndef total(x): return x.sum()\n")
    done = takehome("check", file, "--spec", tmp_path / "toy_spec.py", "-q")
    assert "did not answer within 5 s" in done.stdout, done.stderr
    assert done.returncode == 1


def test_a_brief_and_a_start_are_written(takehome, tmp_path):
    assert takehome("brief", "numpy_attention").returncode == 0
    done = takehome("start", "numpy_attention", tmp_path / "mine")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "mine" / "numpy_attention.py").read_text(encoding="utf-8")
    assert written == specs.load("numpy_attention").starter
