"""Starts what an image has under worker; there this file is /opt/takehome/__main__.py.

The interpreter runs with -S, so that neither a base's site-packages nor a .pth file in them
is looked at: the packages of the image are added here, after the standard library.
"""

import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "packages"))
RUNS_TESTS = os.path.isdir(os.path.join(HERE, "worker", "own_tests"))
runpy.run_module(
    "worker.own_tests" if RUNS_TESTS else "worker", run_name="__main__", alter_sys=True
)
