"""``python -m worker SECONDS [REPLY_BYTES]``: PID 1 of a sandbox image."""

import sys

from .supervisor import main

# What lies beside this package is not for submissions to import.
if sys.path[0] and __package__ == "worker":
    del sys.path[0]
arguments, sys.argv[:] = sys.argv[1:], [""]  # a submission has none
main(arguments)
