"""What a folder was graded by, kept so that a verdict can be made again a year later."""

from __future__ import annotations

import msgspec

from harness.results import Environment


class BatchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything besides the submissions that a batch's cards depend on."""

    spec: str
    brief: str  #: what the candidates were asked
    code: str  #: digest of the spec's files and the harness's, in hexadecimal
    order: bytes  #: what the jobs were told, as they read it
    environment: Environment  #: image, versions inside, limits
    versions: dict[str, str]  #: of Python and the packages on the host
