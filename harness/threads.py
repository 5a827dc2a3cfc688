"""How many threads a library may use: one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: Variables that numpy's and torch's libraries read when they are imported. With one thread the
#: rounding is the same everywhere; more only wait for each other, as matrices are small.
ONE_THREAD: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)
