"""The pages of a folder, served on this machine, with forms for decisions, notes and marks."""

from harness.commands.served.app import make_app
from harness.commands.served.guard import Guard
from harness.commands.served.server import serve

__all__ = ["Guard", "make_app", "serve"]
