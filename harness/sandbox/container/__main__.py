"""Prints which engine answers, or why none does, for scripts; exits with 0 or 3."""

from __future__ import annotations

import sys

from harness.errors import SandboxUnavailable
from harness.sandbox.container.engine import connect


def main() -> int:
    """Print which engine answers; return 0, or 3 if none does."""
    try:
        client = connect()
    except SandboxUnavailable as error:
        print(error)
        return 3
    print(f"Docker {client.version()['Version']} answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
