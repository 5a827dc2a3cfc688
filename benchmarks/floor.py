"""The floor under a batch: a fork of a warm process for each submission, its calls, no sandbox.

``python -m benchmarks.floor CALLS FILE...`` is one job of it: numpy, and torch where the calls need
it, are imported once; each file is run in a fork that makes every call and leaves. Nothing is
checked, sent or limited: no grader that keeps submissions apart can be faster.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.protocol import Call, Gradients, Step, Tensor

#: Wire dtypes that numpy has; bfloat16 is held as float32.
CASTS = {"bf2": "bfloat16", "f2": "float16"}


def write_calls(steps: Sequence[Step], path: Path) -> int:
    """Write the calls among some steps to a file for ``main``; return how many there are."""
    arrays: dict[str, Any] = {}
    calls = []
    for step in steps:
        if isinstance(step, (Call, Gradients)) and step.object is None:
            given = [_written(value, arrays) for value in step.arguments]
            backward = isinstance(step, Gradients)
            calls.append({"name": step.name, "arguments": given, "backward": backward})
    np.savez(path, calls=np.array(json.dumps(calls)), **arrays)
    return len(calls)


def _written(value: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value, (np.ndarray, Tensor)):
        return {"plain": value}
    name = f"a{len(arrays)}"
    arrays[name] = value.values if isinstance(value, Tensor) else value
    return {"array": name, "dtype": CASTS.get(value.dtype, "") if isinstance(value, Tensor) else ""}


def _read_calls(path: str, torch: Any) -> list[tuple[str, list[Any], bool]]:
    """Return name, arguments and whether gradients are wanted, in the candidate's arrays."""
    with np.load(path) as file:
        calls = json.loads(str(file["calls"]))
        return [
            (
                call["name"],
                [_argument(entry, file, torch) for entry in call["arguments"]],
                call["backward"],
            )
            for call in calls
        ]


def _argument(entry: dict[str, Any], file: Any, torch: Any) -> Any:
    if "plain" in entry:
        return entry["plain"]
    array = file[entry["array"]]
    if torch is None:
        return array
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.to(getattr(torch, entry["dtype"])) if entry["dtype"] else tensor


def _make(calls: list[tuple[str, list[Any], bool]], namespace: dict[str, Any]) -> None:
    for name, arguments, backward in calls:
        with contextlib.suppress(Exception):
            function: Callable[..., Any] = namespace[name]
            if not backward:
                function(*arguments)
                continue
            given = [
                a.clone().requires_grad_(a.is_floating_point()) if hasattr(a, "clone") else a
                for a in arguments
            ]
            out = function(*given)
            (out[0] if isinstance(out, tuple) else out).sum().backward()


def main() -> None:
    """Run the files that are named, each in a fork."""
    spec, path, *files = sys.argv[1:]
    torch = None
    if spec.startswith("torch"):
        import torch as imported

        torch = imported
        torch.softmax(torch.ones(2, 2), -1)
    np.random.default_rng(0).normal(size=2)  # a fork made before it is loaded costs 44 ms
    calls = _read_calls(path, torch)
    for file in files:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                _make(calls, runpy.run_path(file))
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
