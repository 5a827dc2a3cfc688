import dataclasses
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@dataclasses.dataclass(frozen=True)
class Installed:
    """The wheel in an environment of its own, used from a folder that is not the checkout."""

    wheel: Path
    python: Path
    folder: Path

    def takehome(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command as a user does, with no engine to be reached."""
        return self.run(self.python.with_name("takehome"), *arguments)

    def run(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, with nothing of this one's settings."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        environment["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
        return subprocess.run(
            [str(program), *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={place}", str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = place.glob("takehome-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    python = place / "venv" / "bin" / "python"
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)],
        check=True,
        capture_output=True,
    )
    # The dependencies are those of this environment. Its own .pth files, and with them the
    # checkout, are not followed from a folder that is itself named in a .pth file.
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", query], check=True, capture_output=True, text=True)
    borrowed = Path(packages.stdout.strip()) / "borrowed.pth"
    borrowed.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    folder = place / "elsewhere"
    folder.mkdir()
    return Installed(wheel=wheel, python=python, folder=folder)


def shipped(folder: str) -> set[str]:
    """Return the files of a package as the checkout has them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


@pytest.mark.parametrize("package", ["harness", "specs", "reports"])
def test_every_file_of_a_package_travels_in_the_wheel(package: str, installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        missing = shipped(package) - set(archive.namelist())
    assert missing == set()


def test_the_wheel_and_not_the_checkout_is_what_runs(installed: Installed) -> None:
    done = installed.run(
        installed.python, "-c", "import harness, specs, reports; print(harness.__file__)"
    )
    assert done.stderr == ""
    assert Path(done.stdout.strip()).is_relative_to(installed.python.parent.parent)


def test_specs_are_listed(installed: Installed) -> None:
    done = installed.takehome("specs")
    assert done.returncode == 0, done.stderr
    assert "numpy_attention" in done.stdout
    assert "torch_sdpa" in done.stdout


def test_the_brief_is_printed(installed: Installed) -> None:
    done = installed.takehome("brief", "numpy_attention")
    assert done.returncode == 0, done.stderr
    assert "attention" in done.stdout.lower()


def test_a_start_can_be_checked_and_does_not_pass_yet(installed: Installed) -> None:
    started = installed.takehome("start", "numpy_attention", "mine")
    assert started.returncode == 0, started.stderr
    readme = (installed.folder / "mine" / "README.md").read_text(encoding="utf-8")
    assert f"pip install ./{installed.wheel.name}\n" in readme
    (starter,) = (installed.folder / "mine").glob("*.py")
    checked = installed.takehome("check", str(starter), "--spec", "numpy_attention")
    assert checked.returncode == 1, checked.stderr


def test_an_image_can_be_planned_without_an_engine(installed: Installed) -> None:
    done = installed.takehome("image", "build", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "takehome-numpy" in done.stdout
    assert "takehome/worker/wire.py" in done.stdout
