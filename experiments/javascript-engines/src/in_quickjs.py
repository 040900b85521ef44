"""Runs the workloads in QuickJS, with the module `quickjs`: in_quickjs.py [check]"""

import pathlib
import sys
import time

import quickjs

context = quickjs.Context()
context.add_callable("hostClock", lambda: time.perf_counter() * 1e3)
context.eval((pathlib.Path(__file__).parent / "workloads.js").read_text())
print(context.eval("checkAll()" if "check" in sys.argv else "measureAll()"))
