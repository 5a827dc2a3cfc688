"""Runs the served pages until Ctrl-C."""

from __future__ import annotations

import datetime
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from harness.commands.decisions_file import import_decisions
from harness.commands.served.app import make_app
from harness.commands.served.batch import ServedBatch
from harness.commands.served.guard import Guard
from harness.errors import UsageError
from harness.language import ENGLISH, Language

_LOOPBACK = "127.0.0.1"


def serve(
    folder: Path,
    reviewer: str,
    port: int,
    address: str | None,
    say: Callable[[str], None],
    *,
    language: Language = ENGLISH,
) -> None:
    """Serve a folder on the loopback interface.

    ``address`` is that of a proxy before it, e.g. ``https://review.example.org``.

    Raises:
        UsageError: the folder holds no results, or the port is taken.
    """
    batch = ServedBatch(folder, reviewer, lambda: datetime.datetime.now(datetime.UTC), language)
    import_decisions(folder, batch.reviews)
    listener = _listen(port)
    own = f"http://{_LOOPBACK}:{listener.getsockname()[1]}"
    guard = Guard((own, address) if address else (own,))
    say(f"review as {reviewer}: {address or own}{guard.first_path()}")
    say("the address is good once; Ctrl-C ends the review, and everything entered is in the ledger")
    config = uvicorn.Config(
        make_app(batch, guard), log_level="warning", access_log=False, server_header=False,
        proxy_headers=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((_LOOPBACK, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UsageError(
            f"port {port} cannot be used ({error.strerror}); choose another with --port"
        ) from None
    return listener
