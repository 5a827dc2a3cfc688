"""The bill of materials of an image, read in the image itself."""

from __future__ import annotations

import docker
import pytest

from harness.sandbox.container import bill_of_materials, ensure_image, list_packages
from harness.sandbox.container.contents import Package
from harness.sandbox.container.wheel_pins import image_versions


def test_a_package_has_the_name_that_it_has_among_all_packages() -> None:
    torch = Package(kind="pypi", name="Typing_Extensions", version="2.13.0+cpu")
    assert torch.purl == "pkg:pypi/typing-extensions@2.13.0%2Bcpu"
    library = Package(kind="deb", name="libc6", version="1:2.36-9", architecture="amd64")
    assert library.purl == "pkg:deb/debian/libc6@1%3A2.36-9?arch=amd64"


@pytest.mark.docker
def test_the_bill_names_every_package_of_the_image_with_version_and_licence(
    engine: docker.DockerClient,
) -> None:
    image = ensure_image(engine, "takehome-torch")
    packages = list_packages(engine, image)
    bill = bill_of_materials(image, packages)
    names = [component["bom-ref"] for component in bill["components"]]
    assert len(set(names)) == len(names)
    for package, version in image_versions().items():
        local = "%2Bcpu" if package == "torch" else ""
        assert f"pkg:pypi/{package}@{version}{local}" in names
    wheels = [part for part in bill["components"] if part["purl"].startswith("pkg:pypi/")]
    assert all(part["licenses"][0]["license"]["name"] for part in wheels)
    assert any(name.startswith("pkg:generic/python@") for name in names)
    assert bill["metadata"]["component"]["version"] == image.id
