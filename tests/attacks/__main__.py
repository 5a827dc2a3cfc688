"""Takes each defence away and prints what turns red: ``python -m tests.attacks``.

A defence that nothing misses is not tested. It takes some minutes, and a container engine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from pathlib import Path

import docker

from harness.commands.probes import PROBES, SandboxUnderTest
from harness.commands.settings import SETTINGS
from harness.sandbox import Limits
from harness.sandbox.container import connect, ensure_image
from tests.attacks.defences import DEFENCES, GUARDED, without
from tests.attacks.grading import AttackedHost, own_temporary_folder, red

ALL = (*PROBES, *SETTINGS)


def red_probes(sandbox: SandboxUnderTest, defence: str) -> list[str]:
    """Return the probes that miss a defence: its own, and those that only read."""
    own = [probe for probe in ALL if probe.name == defence and not probe.reads]
    found = [probe.name for probe in own if not probe.run(sandbox).ok]
    with contextlib.closing(sandbox.sandbox()) as shared:
        reading = dataclasses.replace(sandbox, shared=shared)
        found += [probe.name for probe in ALL if probe.reads and not probe.run(reading).ok]
    return found


def is_red(client: docker.DockerClient, case: str) -> bool:
    """Tell whether a case misses what guards against it."""
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as own:
        host = AttackedHost(client, Path(root), reuse=False, image="numpy")
        with own_temporary_folder(Path(own)), contextlib.closing(host):
            return bool(red(case, host.grade_case(case), host, containers=0))


def main() -> int:
    """Print a line per defence and per guarded case; return how many nothing misses."""
    missed = 0
    with contextlib.closing(connect()) as client:
        image = ensure_image(client, "takehome-numpy")
        sandbox = SandboxUnderTest(client=client, image=image, limits=Limits(), runtime=None)
        for defence, alter in DEFENCES.items():
            with without(alter):
                found = red_probes(sandbox, defence)
            missed += not found
            print(f"without {defence:<24}{', '.join(found) or 'NOTHING IS RED'}", flush=True)
        for case, taken in GUARDED.items():
            with without(*taken):
                found = [case] if is_red(client, case) else []
            missed += not found
            print(f"unguarded {case:<30}{'red' if found else 'STILL GREEN'}", flush=True)
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
