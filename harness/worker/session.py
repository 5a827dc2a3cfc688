"""Serves one submission: loads it, then answers steps until the other side closes.

Runs in the process that executes the submission, so nothing here is a defence: whatever it
sends is taken as a claim by the host. It keeps honest replies small and well formed.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Callable
from typing import Any

from . import failure, fused, loader, operations, parameters, values, wire
from .channel import Channel

Step = dict[str, Any]


class CallRunner:
    """A loaded submission and the objects that the host has numbered."""

    def __init__(
        self, loaded: loader.Loaded, reply_cap: int, torch: Any, blocked: object = None
    ) -> None:
        self._loaded = loaded
        self._reply_cap = reply_cap
        self._torch = torch
        self._blocked = blocked
        self._objects: dict[int, Any] = {}
        self._verbs: dict[str, Callable[[Step, values.Arguments, values.Reply], Step]] = {
            "call": self._call,
            "construct": self._construct,
            "parameters": self._parameters,
            "set": self._set,
            "mode": self._mode,
            "gradients": self._gradients,
            "cost": self._cost,
        }

    def run(self, header: Step, payload: memoryview) -> tuple[Step, list[bytes]]:
        """Answer the steps of one frame; one that raises does not keep the next from running."""
        reply = values.Reply(self._reply_cap)
        answers, offset = [], 0
        for step in header["steps"]:
            arrays = []
            for entry in values.array_entries(_values_of(step)):
                size = wire.array_size(entry)
                arrays.append((entry, payload[offset : offset + size]))
                offset += size
            arguments = values.Arguments(self._torch, self._objects, iter(arrays))
            answers.append(self._answer(step, arguments, reply))
        return {"id": header["id"], "answers": answers}, reply.blobs

    def _answer(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        room, blobs = reply.room, len(reply.blobs)
        try:
            return self._verbs[step["do"]](step, arguments, reply)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are answers, too
            reply.room = room
            del reply.blobs[blobs:]
            return {"raised": failure.describe(error, self._loaded.files)}

    def _callable(self, step: Step) -> Callable[..., Any]:
        """Return what a step calls: a name, an object, or a method of an object."""
        if "object" not in step:
            return self._named(step["name"])  # type: ignore[no-any-return]
        owner = self._objects[step["object"]]
        name = step.get("name") or ("" if callable(owner) else "forward")
        return getattr(owner, name) if name else owner  # type: ignore[no-any-return]

    def _named(self, name: str) -> Any:
        if name not in self._loaded.namespace:
            raise NameError(f"the submission does not define {name}")
        return self._loaded.namespace[name]

    def _call(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        positional, keywords = _arguments(step, arguments)
        returned = self._callable(step)(*positional, **keywords)
        answer = values.results(returned, reply)
        for position, number in step.get("keep", {}).items():
            self._objects[number] = _part(returned, int(position))
        if step.get("echo"):
            after = [*positional, *keywords.values()]
            answer["echo"] = [values.describe(value, reply) for value in after]
        return answer

    def _cost(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        if self._torch is None:
            raise NotImplementedError("operations are counted with torch only")
        positional, keywords = _arguments(step, arguments)
        target = self._callable(step)
        counted = operations.count(lambda: target(*positional, **keywords), self._torch)
        return values.results(counted, reply)

    def _construct(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        positional, keywords = _arguments(step, arguments)
        self._objects[step["object"]] = self._named(step["name"])(*positional, **keywords)
        return {"form": "nothing", "outs": []}

    def _parameters(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        found = parameters.find(self._objects[step["object"]], self._torch)
        return _named_outs(list(found), list(found.values()), reply)

    def _set(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        new, _ = _arguments(step, arguments)
        parameters.assign(self._objects[step["object"]], step["names"], new, self._torch)
        return {"form": "nothing", "outs": []}

    def _mode(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        owner = self._objects[step["object"]]
        if callable(getattr(owner, "train", None)):
            owner.train(step["training"])
        return {"form": "nothing", "outs": []}

    def _gradients(self, step: Step, arguments: values.Arguments, reply: values.Reply) -> Step:
        if self._torch is None:
            raise NotImplementedError("gradients need arrays of torch")
        positional, keywords = _arguments(step, arguments)
        cotangents = [arguments.value(entry) for entry in step["cotangents"]]
        owned: dict[str, Any] = {}
        if "object" in step:
            owned = parameters.find(self._objects[step["object"]], self._torch)
        given = [*positional, *keywords.values()]
        leaves = [*(given[place] for place in step["of"]), *owned.values()]
        target = self._callable(step)
        found = parameters.gradients(
            lambda: target(*positional, **keywords), leaves, cotangents, self._torch
        )
        return _named_outs([""] * len(step["of"]) + list(owned), found, reply)


def _values_of(step: Step) -> list[dict[str, Any]]:
    return [
        *step.get("arguments", []),
        *step.get("keywords", {}).values(),
        *step.get("cotangents", []),
    ]


def _arguments(step: Step, arguments: values.Arguments) -> tuple[list[Any], dict[str, Any]]:
    positional = [arguments.value(entry) for entry in step.get("arguments", [])]
    keywords = {name: arguments.value(entry) for name, entry in step.get("keywords", {}).items()}
    return positional, keywords


def _part(returned: Any, position: int) -> Any:
    """Return one output of a call; a call that returns one value has it at position 0."""
    if isinstance(returned, dict):
        return list(returned.values())[position]
    if isinstance(returned, (tuple, list)):
        return returned[position]
    if position:
        raise IndexError(f"the call returned one value, expected at least {position + 1}")
    return returned


def _named_outs(names: list[str], outs: list[Any], reply: values.Reply) -> Step:
    described = [values.describe(value, reply) for value in outs]
    shown = [values.printable(name)[: values.TEXT_CAP] for name in names]
    return {"form": "list", "outs": described, "names": shown}


def serve(channel: Channel, reply_cap: int, *, definitions_because: str = "") -> None:
    """Answer a ``load`` frame and then ``run`` frames until the other side closes."""
    header, payload = channel.read()
    torch = importlib.import_module("torch") if header["arrays"] == "torch" else None
    blocked = fused.block() if header["blocked"] else None  # kept until the process ends
    loaded = loader.load(header, payload, definitions_because=definitions_because)
    _flush()
    channel.write({"id": header["id"], **loaded.reply})
    session = CallRunner(loaded, reply_cap, torch, blocked)
    while True:
        try:
            header, payload = channel.read()
        except EOFError:
            return
        reply, blobs = session.run(header, payload)
        _flush()
        try:
            channel.write(reply, blobs)
        except wire.WireError:
            channel.write({"id": header["id"], "answers": [_too_long() for _ in header["steps"]]})


def _too_long() -> Step:
    message = "the answers are too many to describe in one frame"
    return {"raised": {"type": "ValueError", "message": message, "line": None, "file": ""}}


def print_by_line() -> None:
    """Let what is printed go out line by line, so that a kill does not swallow it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")


def _flush() -> None:
    """Let what was printed leave the process before the reply does."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the submission may have closed or replaced it
            continue
