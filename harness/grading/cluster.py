"""Where the jobs of a batch run: the workers of a Dask cluster, as a `concurrent.futures.Executor`.

Scheduling, worker processes and their supervision are Dask's. Bytes go in, bytes come out.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import ipaddress
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, Final

from harness.errors import SandboxBroken, UsageError
from harness.text import one_line

SCHEME: Final = "dask://"
_CONNECT_SECONDS: Final = 20.0
Say = Callable[[str], None]


class DaskWorkers(Executor):
    """The workers of a cluster that somebody else runs."""

    def __init__(
        self, address: str, *, identify: Callable[[], Mapping[str, str]], close: Callable[[], None]
    ) -> None:
        """Connect to the scheduler at ``dask://HOST:PORT``, and compare its workers with this host.

        ``identify`` says by what a submission is graded where it is called; ``close`` closes the
        sandboxes of a worker. TLS is used where Dask's own configuration has a certificate.

        Raises:
            UsageError: Dask is not installed, no scheduler answers, there is no worker, or one
                would grade by something else than this host.
        """
        self._close = close
        distributed = _distributed()
        self._killed: type[Exception] = distributed.KilledWorker
        security = distributed.Security()
        self.is_encrypted = bool(security.tls_ca_file)
        self._address = f"{'tls' if self.is_encrypted else 'tcp'}://{_host_and_port(address)}"
        try:
            self._client = distributed.Client(
                self._address, security=security, timeout=_CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {self._address} ({one_line(str(error), 200)}); "
                "start one as docs/cluster.md says"
            ) from None
        try:
            self.count = self._compare(identify)
        except BaseException:
            self._client.close()
            raise

    def _compare(self, identify: Callable[[], Mapping[str, str]]) -> int:
        """Return how many submissions the workers grade at a time, all by what this host would."""
        threads: Mapping[str, int] = self._client.nthreads()
        if not threads:
            raise UsageError(f"the scheduler at {self._address} has no workers; start some")
        wanted = dict(identify())
        found = self._client.run(identify, on_error="return")
        for worker, identity in found.items():
            if isinstance(identity, BaseException):
                said = one_line(f"{type(identity).__name__}: {identity}", 300)
                raise UsageError(f"the worker {worker} cannot grade: {said}")
            for name, value in wanted.items():
                if identity.get(name) != value:
                    raise UsageError(
                        f"the worker {worker} has {name} {identity.get(name) or '(none)'}, "
                        f"expected {value or '(none)'}, as here; make both the same"
                    )
        return sum(threads.values())

    def submit(self, work: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
        """Run ``work`` on a worker; when it dies, on another one.

        The future raises `BrokenExecutor` when several workers died of it, and `SandboxBroken`
        when the scheduler is gone.
        """
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        asked = self._client.submit(work, *args, **keywords, pure=False)
        asked.add_done_callback(lambda done: self._pass_on(done, answer))
        return answer

    def _pass_on(self, done: Any, answer: Future[Any]) -> None:
        try:
            answer.set_result(done.result())
        except self._killed as error:
            answer.set_exception(BrokenExecutor(str(error)))
        except (CancelledError, asyncio.CancelledError, OSError, TimeoutError) as error:
            said = one_line(str(error), 200)
            answer.set_exception(
                SandboxBroken(f"the scheduler at {self._address} is gone ({said})")
            )
        except BaseException as error:
            answer.set_exception(error)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Have the workers close their sandboxes, and let go of the cluster, which goes on."""
        with contextlib.suppress(Exception):  # those that are gone have nothing open
            if cancel_futures:
                self._client.cancel(list(self._client.futures.values()), force=True)
            self._client.run(self._close, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close()


def is_local(address: str) -> bool:
    """Tell whether ``dask://HOST:PORT`` is on this machine."""
    host = _host_and_port(address).rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host_and_port(address: str) -> str:
    host, colon, port = address.removeprefix(SCHEME).rpartition(":")
    if not address.startswith(SCHEME) or not host or not colon or not port.isdecimal():
        raise UsageError(f"the executor is {address!r}, expected local or {SCHEME}HOST:PORT")
    return f"{host}:{port}"


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise UsageError(
            f"Dask is not installed, expected for --executor {SCHEME}HOST:PORT; "
            "pip install 'takehome[cluster]'"
        ) from None
