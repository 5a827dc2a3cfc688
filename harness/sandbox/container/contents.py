"""What an image holds, as a CycloneDX bill of materials.

Format: https://cyclonedx.org/docs/1.5/json. Names of packages (purl) are as in
https://github.com/package-url/purl-spec.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import docker
import msgspec

from harness.errors import SandboxUnavailable
from harness.sandbox.container.bases import run_python
from harness.sandbox.container.engine import ENGINE_ERRORS
from harness.sandbox.container.images import Image

# Debian's packages are read from dpkg's own list; a base without one has none to name.
_ASK = """
import importlib.metadata, json, platform
found = [{"kind": "generic", "name": "python", "version": platform.python_version()}]
for distribution in importlib.metadata.distributions(path=["/opt/takehome/packages"]):
    data = distribution.metadata
    trove = [line for line in data.get_all("Classifier") or () if line.startswith("License :: ")]
    licence = data.get("License-Expression") or "; ".join(line.split(" :: ")[-1] for line in trove)
    found.append({"kind": "pypi", "name": data["Name"], "version": distribution.version,
                  "licence": licence or (data.get("License") or "").partition("\\n")[0]})
try:
    status = open("/var/lib/dpkg/status", encoding="utf-8").read()
except OSError:
    status = ""
for paragraph in status.split("\\n\\n"):
    fields = dict(line.split(": ", 1) for line in paragraph.splitlines()
                  if ": " in line and not line.startswith(" "))
    if fields.get("Status") == "install ok installed":
        found.append({"kind": "deb", "name": fields["Package"], "version": fields["Version"],
                      "architecture": fields["Architecture"]})
print(json.dumps(found))
"""


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A package in an image."""

    kind: str  #: type of its purl: "pypi", "deb" or "generic"
    name: str
    version: str
    architecture: str = ""  #: of a package of Debian: "amd64"
    licence: str = ""  #: as it says itself; Debian's are in /usr/share/doc of the image

    @property
    def purl(self) -> str:
        """Return its name among all packages."""
        name = self.name.lower().replace("_", "-") if self.kind == "pypi" else self.name
        namespace = "debian/" if self.kind == "deb" else ""
        architecture = f"?arch={self.architecture}" if self.architecture else ""
        return f"pkg:{self.kind}/{namespace}{name}@{quote(self.version, safe='')}{architecture}"


def list_packages(client: docker.DockerClient, image: Image) -> tuple[Package, ...]:
    """Return the packages in an image, as its own interpreter finds them.

    Raises:
        SandboxUnavailable: the image cannot be run.
    """
    try:
        said = run_python(client, image.id, _ASK)
        return msgspec.json.decode(said, type=tuple[Package, ...])
    except (*ENGINE_ERRORS, msgspec.MsgspecError) as error:
        raise SandboxUnavailable(
            f"the packages of {image.name} cannot be read ({error}); see `takehome doctor`"
        ) from error


def bill_of_materials(image: Image, packages: tuple[Package, ...]) -> dict[str, Any]:
    """Return the packages of an image as a document of CycloneDX 1.5."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": image.name, "version": image.id}},
        "components": [_component(package) for package in packages],
    }


def _component(package: Package) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
    }
    if package.licence:
        component["licenses"] = [{"license": {"name": package.licence}}]
    return component
