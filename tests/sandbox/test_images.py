import dataclasses
import io
import tarfile
import uuid
from collections.abc import Callable, Iterator

import docker
import pytest

from harness.errors import SandboxUnavailable
from harness.sandbox.container import bases, images
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import Image, build, ensure_image, recipe

UID = "64001:64001"


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="module")
def numpy_image(client: docker.DockerClient) -> Image:
    return ensure_image(client, "takehome-numpy")


@pytest.fixture
def own_name(client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An image of this test only, so that no other test sees it go stale."""
    name = f"takehome-test-{uuid.uuid4().hex[:8]}"
    monkeypatch.setitem(images.PACKAGES, name, ("numpy",))
    yield name
    while bases.local_id(client, name) is not None:
        client.images.remove(name, force=True)


@pytest.fixture
def make_base(client: docker.DockerClient) -> Iterator[Callable[[str], str]]:
    """Derives a base from the default one with a line of Dockerfile."""
    made = []

    def make(instruction: str) -> str:
        ground = bases.find_base(client, None, lambda line: None)
        dockerfile = f"FROM {ground.id}\n{instruction}\n".encode()
        context = io.BytesIO()
        with tarfile.open(fileobj=context, mode="w") as archive:
            member = tarfile.TarInfo("Dockerfile")
            member.size = len(dockerfile)
            archive.addfile(member, io.BytesIO(dockerfile))
        context.seek(0)
        reference = f"takehome-test-base:{uuid.uuid4().hex[:8]}"
        client.images.build(
            fileobj=context, custom_context=True, tag=reference, network_mode="none", rm=True
        )
        made.append(reference)
        return reference

    yield make
    for reference in made:
        if bases.local_id(client, reference) is not None:
            client.images.remove(reference, force=True)


def shell(client: docker.DockerClient, image: Image, script: str, *, user: str = UID) -> str:
    output = client.containers.run(
        image.id, ["sh", "-c", script], network_mode="none", user=user, remove=True
    )
    return str(output, "utf-8")


def python(client: docker.DockerClient, image: Image, code: str) -> str:
    output = client.containers.run(
        image.id,
        entrypoint=[image.python, "-I", "-S", "-B", "-c"],
        command=["import sys; sys.path.append('/opt/takehome/packages')\n" + code],
        network_mode="none",
        read_only=True,
        user=UID,
        remove=True,
    )
    return str(output, "utf-8").strip()


@pytest.mark.docker
def test_the_recorded_versions_are_those_that_run(
    client: docker.DockerClient, numpy_image: Image
) -> None:
    said = python(
        client,
        numpy_image,
        "import numpy, platform; print(platform.python_version(), numpy.__version__)",
    )
    assert said == f"{numpy_image.versions['python']} {numpy_image.versions['numpy']}"


@pytest.mark.docker
def test_the_torch_image_holds_the_cpu_build(client: docker.DockerClient) -> None:
    image = ensure_image(client, "takehome-torch")
    said = python(client, image, "import torch; print(torch.__version__, torch.version.cuda)")
    assert said == f"{image.versions['torch']} None"
    assert image.versions["torch"].endswith("+cpu")


@pytest.mark.docker
def test_the_numpy_image_has_neither_torch_nor_scipy(
    client: docker.DockerClient, numpy_image: Image
) -> None:
    said = python(
        client,
        numpy_image,
        "from importlib.util import find_spec\n"
        "print([name for name in ('numpy', 'scipy', 'torch') if find_spec(name)])",
    )
    assert said == "['numpy']"


@pytest.mark.docker
def test_no_file_in_an_image_changes_its_user(
    client: docker.DockerClient, numpy_image: Image
) -> None:
    assert shell(client, numpy_image, "find / -xdev -perm /6000", user="0") == ""


@pytest.mark.docker
def test_an_image_has_no_installer_and_no_compiler(
    client: docker.DockerClient, numpy_image: Image
) -> None:
    script = f"command -v pip pip3 gcc cc; {numpy_image.python} -c 'import pip' || echo none"
    assert shell(client, numpy_image, script) == "none\n"


@pytest.mark.docker
def test_the_worker_of_an_image_is_the_one_of_this_checkout(
    client: docker.DockerClient, numpy_image: Image
) -> None:
    files = recipe("takehome-numpy").files
    listed = shell(client, numpy_image, "cd /opt; find takehome/worker -name '*.py' | sort")
    assert listed.split() == sorted(name for name in files if name.startswith("takehome/worker/"))
    wire = shell(client, numpy_image, "cat /opt/takehome/worker/wire.py")
    assert wire.encode() == files["takehome/worker/wire.py"]


@pytest.mark.docker
def test_a_fresh_image_is_not_built_again(client: docker.DockerClient, numpy_image: Image) -> None:
    said: list[str] = []
    assert ensure_image(client, "takehome-numpy", report=said.append) == numpy_image
    assert said == []


@pytest.mark.docker
def test_an_image_with_old_worker_code_is_built_again(
    client: docker.DockerClient, own_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ensure_image(client, own_name)
    changed = recipe(own_name)
    changed = dataclasses.replace(
        changed, files={**changed.files, "takehome/worker/wire.py": b"# changed\n"}
    )
    monkeypatch.setattr(images, "recipe", lambda name: changed)
    after = ensure_image(client, own_name)
    assert after.id != before.id
    assert shell(client, after, "cat /opt/takehome/worker/wire.py") == "# changed\n"


@pytest.mark.docker
def test_the_interpreter_is_found_where_the_base_has_it(
    client: docker.DockerClient, own_name: str, make_base: Callable[[str], str]
) -> None:
    base = make_base("RUN mv $(readlink -f $(command -v python3)) /opt/python3\nENV PATH=/opt:/bin")
    image = build(client, own_name, base=base)
    assert image.python == "/opt/python3"
    assert python(client, image, "import numpy; print(numpy.ones(3).sum())") == "3.0"


@pytest.mark.docker
def test_an_image_stays_on_the_base_that_it_was_built_on(
    client: docker.DockerClient, own_name: str, make_base: Callable[[str], str]
) -> None:
    built = build(client, own_name, base=make_base("ENV OWN=1"))
    assert ensure_image(client, own_name) == built


@pytest.mark.docker
def test_a_fresh_image_does_not_need_its_base(
    client: docker.DockerClient, own_name: str, make_base: Callable[[str], str]
) -> None:
    base = make_base("ENV OWN=1")
    built = build(client, own_name, base=base)
    client.images.remove(base)
    assert ensure_image(client, own_name) == built


@pytest.mark.docker
def test_a_base_without_python_is_refused_by_name(
    client: docker.DockerClient, own_name: str, make_base: Callable[[str], str]
) -> None:
    base = make_base("RUN rm $(command -v python3)")
    with pytest.raises(SandboxUnavailable, match=f"{base}.*choose another with --base"):
        build(client, own_name, base=base)


@pytest.mark.docker
def test_a_base_that_is_nowhere_is_refused_by_name(client: docker.DockerClient) -> None:
    with pytest.raises(SandboxUnavailable, match=r"localhost:1/absent:1.*check the name"):
        build(client, "takehome-numpy", base="localhost:1/absent:1")


def test_where_nothing_can_make_a_base_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxUnavailable, match=r"docker load.*--base REF.*install mmdebstrap"):
        bases._bootstrap_tool()


def test_every_part_of_a_recipe_makes_an_image_stale() -> None:
    made = recipe("takehome-numpy")
    fresh = made.content("sha256:base")
    assert made.content("sha256:other") != fresh
    assert dataclasses.replace(made, name="takehome-torch").content("sha256:base") != fresh
    for path in made.files:
        changed = {**made.files, path: made.files[path] + b"#"}
        assert dataclasses.replace(made, files=changed).content("sha256:base") != fresh


def test_an_unknown_image_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(SandboxUnavailable, match="takehome-numpy or takehome-torch"):
        recipe("takehome-jax")


def test_the_outline_names_base_wheels_and_files() -> None:
    outline = recipe("takehome-torch").outline("my/base:1")
    assert "base    my/base:1" in outline
    assert "+cpu, and what they require" in outline
    assert "takehome/worker/wire.py" in outline


@pytest.mark.docker
def test_replaced_images_are_removed_and_named_ones_stay(
    client: docker.DockerClient, own_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = ensure_image(client, own_name)
    changed = recipe(own_name)
    changed = dataclasses.replace(changed, files={**changed.files, "takehome/new": b""})
    monkeypatch.setattr(images, "recipe", lambda name: changed)
    new = ensure_image(client, own_name)
    assert images.remove_stale(client) >= 1
    assert bases.local_id(client, old.id) is None
    assert bases.local_id(client, new.id) == new.id
