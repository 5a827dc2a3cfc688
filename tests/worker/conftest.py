from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.worker import loader


@pytest.fixture
def load() -> Iterator[Callable[..., loader.Loaded]]:
    """Loads sources in this process, and forgets the modules afterwards."""
    modules, finders = dict(sys.modules), list(sys.meta_path)

    def load_files(source: str = "", because: str = "", **fields: Any) -> loader.Loaded:
        files = fields.pop("files", {"answer.py": source})
        header = {
            "arrays": "numpy",
            "origin": "script",
            "entry": next(iter(files)),
            "files": [{"name": name, "size": len(text.encode())} for name, text in files.items()],
        }
        payload = memoryview("".join(files.values()).encode())
        return loader.load(header | fields, payload, definitions_because=because)

    yield load_files
    sys.meta_path[:] = finders
    for name in set(sys.modules) - set(modules):
        if not os.path.isabs(getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]  # libraries stay: numpy and torch cannot be loaded twice
