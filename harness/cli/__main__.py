"""Runs the command line as ``python -m harness.cli``."""

from harness.cli.program import main

main()
