"""Candidate text is parsed in a limited child process, never here."""

from harness.parsing.client import Outline, Parser, SourceEdit

__all__ = [
    "Outline",
    "Parser",
    "SourceEdit",
]
