import hashlib
import zipfile
from pathlib import Path

import pytest

from harness.errors import SandboxUnavailable
from harness.sandbox.container import wheel_pins, wheels
from harness.sandbox.container.bases import Interpreter

ARM = Interpreter(
    path="/usr/local/bin/python3",
    version="3.13.1",
    abis=("cp313", "abi3", "none"),
    platforms=("manylinux_2_28_aarch64", "any"),
)


def write_wheel(folder: Path, filename: str) -> None:
    """Write a wheel that pip accepts and that holds nothing."""
    name, version, *_ = filename.split("-")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / filename, "w") as archive:
        information = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        archive.writestr(f"{information}/METADATA", metadata)
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{information}/RECORD", "")


def numpy_version() -> str:
    return wheels.pinned("numpy").removeprefix("numpy==")


def torch_version() -> str:
    return wheels.pinned("torch").removeprefix("torch==").removesuffix("+cpu")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where pip looks for wheels."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    empty = tmp_path / "empty-index"
    empty.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", empty.as_uri())
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


def fetch(package: str, cache: Path, *, index: str | None = None) -> list[str]:
    found = wheels.download((package,), ARM, index=index, cache=cache, report=lambda line: None)
    return [wheel.name for wheel in found]


def test_wheels_are_for_the_base_and_not_for_the_host(shelf: Path, tmp_path: Path) -> None:
    wanted = f"numpy-{numpy_version()}-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, f"numpy-{numpy_version()}-cp311-cp311-manylinux_2_28_x86_64.whl")
    write_wheel(shelf, f"numpy-{numpy_version()}-cp313-cp313-manylinux_2_28_x86_64.whl")
    write_wheel(shelf, wanted)
    assert fetch("numpy", tmp_path / "cache") == [wanted]


def test_the_cpu_build_of_torch_is_chosen_over_the_cuda_build(shelf: Path, tmp_path: Path) -> None:
    wanted = f"torch-{torch_version()}+cpu-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, f"torch-{torch_version()}-cp313-cp313-manylinux_2_28_aarch64.whl")
    write_wheel(shelf, wanted)
    assert fetch("torch", tmp_path / "cache") == [wanted]


def test_where_pip_knows_only_the_cuda_build_the_cpu_index_is_asked(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = f"torch-{torch_version()}+cpu-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, f"torch-{torch_version()}-cp313-cp313-manylinux_2_28_aarch64.whl")
    write_wheel(tmp_path / "index" / "torch", wanted)
    (tmp_path / "index" / "torch" / "index.html").write_text(f'<a href="{wanted}">{wanted}</a>')
    monkeypatch.setattr(wheels, "PYTORCH_CPU_INDEX", (tmp_path / "index").as_uri())
    assert fetch("torch", tmp_path / "cache") == [wanted]


def test_wheels_are_fetched_once(shelf: Path, tmp_path: Path) -> None:
    wheel = f"numpy-{numpy_version()}-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, wheel)
    fetch("numpy", tmp_path / "cache")
    (shelf / wheel).unlink()
    assert fetch("numpy", tmp_path / "cache") == [wheel]


def test_a_missing_wheel_is_an_error_that_says_what_to_do(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match=r"numpy==.* for Python 3\.13\.1 .*--index-url"):
        fetch("numpy", tmp_path / "cache")


def test_a_failed_download_leaves_nothing_in_the_cache(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable):
        fetch("numpy", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_written_to_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(SandboxUnavailable, match=rf"{tmp_path}/cache.*XDG_CACHE_HOME"):
        fetch("numpy", tmp_path / "cache")


def test_a_wheel_that_is_not_the_pinned_one_is_refused(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = f"numpy-{numpy_version()}-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, wheel)
    pins = tmp_path / "wheels.sha256"
    pins.write_text(f"{'0' * 64}  {wheel}\n")
    monkeypatch.setattr(wheel_pins, "PINS", pins)
    with pytest.raises(SandboxUnavailable, match=rf"sha256 of {wheel} is \w+, expected 0000"):
        fetch("numpy", tmp_path / "cache")


def test_a_wheel_that_is_not_pinned_is_reported_with_its_hash(shelf: Path, tmp_path: Path) -> None:
    wheel = f"numpy-{numpy_version()}-cp313-cp313-manylinux_2_28_aarch64.whl"
    write_wheel(shelf, wheel)
    said: list[str] = []
    wheels.download(("numpy",), ARM, index=None, cache=tmp_path / "cache", report=said.append)
    digest = hashlib.sha256((shelf / wheel).read_bytes()).hexdigest()
    assert said[-1] == f"{wheel} is not pinned by hash; its sha256 is {digest}"


def test_every_package_of_the_images_but_torch_is_pinned_in_the_version_of_the_constraints() -> (
    None
):
    pinned = {tuple(name.split("-")[:2]) for name in wheel_pins.read_pins()}
    for package, version in wheel_pins.pinned_versions().items():
        assert (package.replace("-", "_"), version) in pinned or package == "torch"
