"""What the container sandbox costs: one call, and one fresh container.

``python -m benchmarks.sandbox [--rounds N]`` prints a figure and its bar per line. The fresh
container is measured in turn with a bare ``docker run`` of the same image that only imports
numpy, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import secrets
import statistics
import subprocess
import time
from collections.abc import Callable

import docker
import numpy as np

from harness.protocol import Call, encode
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import Image, ensure_image
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.worker import wire

CALL_BAR_MS = 1.0
FRESH_BAR = 1.3
CALLS = 500
FEW_CALLS = 5

ATTENTION = b"""
import numpy as np

def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights
"""
IMPORT_NUMPY = "import sys; sys.path.append('/opt/takehome/packages'); import numpy"


def load_frame() -> bytes:
    """Return the frame that loads a small attention."""
    header = {
        "op": "load",
        "id": secrets.token_hex(16),
        "seconds": 20,
        "arrays": "numpy",
        "origin": "script",
        "blocked": False,
        "entry": "attention.py",
        "files": [{"name": "attention.py", "size": len(ATTENTION)}],
    }
    return wire.pack(header, [ATTENTION])


def call_frame() -> bytes:
    """Return the frame that calls it with q, k and v of shape (2, 5, 8)."""
    values = np.random.default_rng().normal(size=(3, 2, 5, 8)).astype(np.float32)
    entries, blobs = encode([Call(name="attention", arguments=tuple(values))])
    header = {"op": "run", "id": secrets.token_hex(16), "seconds": 5, "steps": entries}
    return wire.pack(header, blobs)


def median_ms(work: Callable[[], None], rounds: int) -> float:
    """Return the median time of ``work`` in milliseconds."""
    return statistics.median(seconds(work) for _ in range(rounds)) * 1e3


def seconds(work: Callable[[], None]) -> float:
    """Return how long ``work`` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def one_call(client: docker.DockerClient, image: Image) -> float:
    """Return the median round trip of a call, in milliseconds."""
    sandbox = ContainerSandbox(client=client, image=image)
    sandbox.start(load_frame(), 20)
    frames = iter([call_frame() for _ in range(CALLS)])
    median = median_ms(lambda: sandbox.call(next(frames), 5) and None, CALLS)
    sandbox.close()
    return median


def fresh(client: docker.DockerClient, image: Image) -> None:
    """Make a container, load a submission, call it a few times, read its log, remove it."""
    sandbox = ContainerSandbox(client=client, image=image)
    sandbox.start(load_frame(), 20)
    for _ in range(FEW_CALLS):
        sandbox.call(call_frame(), 5)
    sandbox.log()
    sandbox.close()


def bare(image: Image) -> None:
    """Run a container that imports numpy, and remove it."""
    command = ["docker", "run", "--rm", "--network=none", image.id, image.python, "-I", "-S"]
    subprocess.run([*command, "-c", IMPORT_NUMPY], check=True, capture_output=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="fresh containers of each kind")
    rounds = parser.parse_args().rounds
    client = connect()
    image = ensure_image(client, "takehome-numpy")
    call = one_call(client, image)
    print(f"one call through a container: {call:.2f} ms at the median (bar: {CALL_BAR_MS} ms)")
    pairs = [
        (seconds(lambda: fresh(client, image)), seconds(lambda: bare(image))) for _ in range(rounds)
    ]
    ours, theirs = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    print(
        f"a fresh container, load and {FEW_CALLS} calls: {ours:.0f} ms; bare docker run with "
        f"numpy: {theirs:.0f} ms; {ours / theirs:.2f} times (bar: {FRESH_BAR})"
    )
    client.close()


if __name__ == "__main__":
    main()
