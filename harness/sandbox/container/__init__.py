"""Containers: the engine, the images, what a container may do, and the sandbox made of them."""

from harness.sandbox.container.contents import Package, bill_of_materials, list_packages
from harness.sandbox.container.engine import ENGINE_ERRORS, connect, require_runtime
from harness.sandbox.container.hardening import USERS, create_arguments
from harness.sandbox.container.images import (
    PACKAGES,
    Image,
    build,
    ensure_image,
    recipe,
    remove_stale,
)
from harness.sandbox.container.own_tests import (
    OwnTestsContainer,
    OwnTestsImage,
    prepare_test_image,
)
from harness.sandbox.container.preparation import opener, opener_of
from harness.sandbox.container.reaper import labels, reap
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.sandbox.container.wheel_pins import PINS, pinned_versions

__all__ = [
    "ENGINE_ERRORS",
    "PACKAGES",
    "PINS",
    "USERS",
    "ContainerSandbox",
    "Image",
    "OwnTestsContainer",
    "OwnTestsImage",
    "Package",
    "bill_of_materials",
    "build",
    "connect",
    "create_arguments",
    "ensure_image",
    "labels",
    "list_packages",
    "opener",
    "opener_of",
    "pinned_versions",
    "prepare_test_image",
    "reap",
    "recipe",
    "remove_stale",
    "require_runtime",
]
