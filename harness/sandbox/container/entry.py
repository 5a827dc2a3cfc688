"""Starts the worker inside an image; there this file is /opt/takehome/__main__.py.

The interpreter runs with -S, so that neither a base's site-packages nor a .pth file in them
is looked at: the packages of the image are added here, after the standard library.
"""

import os
import runpy
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "packages"))
runpy.run_module("worker", run_name="__main__", alter_sys=True)
