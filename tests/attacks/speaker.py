"""Speaks the protocol in the worker's place; travels with the cases that say ``speaks``."""

import json
import os
import struct
import sys
import time

import numpy as np

PREFIX = struct.Struct("<4sIQ")


class Ask:
    """One frame of the host, and what may be said to it."""

    def __init__(self, channel, header, payload):
        self.channel = channel
        self.header = header
        self.payload = payload

    @classmethod
    def found(cls):
        """Find the frame that is being answered among the variables of the callers."""
        frame = sys._getframe()
        while "channel" not in frame.f_locals or "payload" not in frame.f_locals:
            frame = frame.f_back
        return cls(*(frame.f_locals[name] for name in ("channel", "header", "payload")))

    def right(self, factor=2):
        """Return the answers of a right submission, and their arrays."""
        answers, blobs, offset = [], [], 0
        for step in self.header["steps"]:
            (entry,) = step["arguments"]
            size = int(np.prod(entry["shape"])) * 8
            x = np.frombuffer(self.payload[offset : offset + size]).reshape(entry["shape"])
            offset += size
            out = np.asarray(x * factor if step["name"] == "double" else x.sum())
            blobs.append(out.tobytes())
            answer = {
                "form": "single",
                "outs": [{"k": "array", "dtype": "f8", "shape": list(out.shape)}],
            }
            if step.get("echo"):
                answer["echo"] = [entry]
                blobs.append(x.tobytes())
            answers.append(answer)
        return answers, blobs

    def text(self, words, id=None):
        """Return a header as JSON."""
        return json.dumps({"id": self.header["id"] if id is None else id, **words}).encode()

    def prefix(self, header, payload, magic=b"TH1\n"):
        """Return the first bytes of a frame."""
        return PREFIX.pack(magic, header, payload)

    def frame(self, words, blobs=(), *, magic=b"TH1\n", id=None, lengths=None):
        """Return a frame, which may announce other lengths than it has."""
        text, data = self.text(words, id), b"".join(blobs)
        return self.prefix(*(lengths or (len(text), len(data))), magic) + text + data

    def reply(self, words, blobs=(), **form):
        """Send one frame."""
        self.write(self.frame(words, blobs, **form))

    def write(self, data):
        """Send bytes, whatever they are."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.channel.outgoing, view[: 1 << 16]) :]

    def wait(self, seconds=60):
        """Say nothing."""
        time.sleep(seconds)


def take_over(reply):
    """Answer this frame and all that follow; never return to the worker."""
    ask = Ask.found()
    while True:
        reply(ask)
        ask = Ask(ask.channel, *ask.channel.read())
