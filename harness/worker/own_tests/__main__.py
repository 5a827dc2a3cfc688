"""``python -m worker.own_tests SECONDS REPLY_BYTES``: PID 1 of an image with pytest."""

import sys

from .runner import main

# What lies beside this package is not for tests to import.
if sys.path[0] and __package__ == "worker.own_tests":
    del sys.path[0]
arguments, sys.argv[:] = sys.argv[1:], [""]  # tests have none
main(arguments)
