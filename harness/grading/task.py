"""One submission on its way to a job: bytes in, a card out."""

from __future__ import annotations

import hashlib
from typing import Self

import msgspec

from harness.errors import Refused
from harness.intake import Delivery, Submission
from harness.parsing import Parser


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery that has been read: the submission, or why intake refused it."""

    id: str
    submission: Submission | None = None
    refusal: str = ""

    @classmethod
    def read(cls, delivery: Delivery, parser: Parser) -> Self:
        """Read a delivery from the disk.

        Raises:
            SandboxBroken: the parser does not start.
        """
        try:
            return cls(id=delivery.id, submission=delivery.load(parser))
        except Refused as refused:
            return cls(id=delivery.id, refusal=str(refused))

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Return the task that ``encode`` has written."""
        return msgspec.msgpack.decode(content, type=cls)

    def encode(self) -> bytes:
        """Return the task as bytes; equal tasks are equal bytes."""
        return msgspec.msgpack.encode(self)

    def load(self, parser: Parser) -> Submission:
        """Return the submission.

        Raises:
            Refused: intake has refused it.
        """
        if self.submission is None:
            raise Refused(self.refusal)
        return self.submission


def card_key(basis: bytes, task: bytes) -> str:
    """Return what a card is kept under: a digest of all that it depends on.

    ``basis`` is what every submission of the batch is graded by, ``task`` the submission.
    """
    digest = hashlib.sha256(len(basis).to_bytes(8, "little"))
    digest.update(basis)
    digest.update(task)
    return digest.hexdigest()
