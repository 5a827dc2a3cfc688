"""The command line: arguments in, exit code out."""

from harness.cli.exit_codes import Exit
from harness.cli.program import main

__all__ = ["Exit", "main"]
