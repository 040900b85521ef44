"""Order the lines of a file by sort(1), three times over, and await each."""

import os
import subprocess
import sys

checks = []
for key in ("1", "2", "3"):
    command = ["sort", "-k", key, sys.argv[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"})
    checks.append(len(done.stdout.splitlines()))
print(checks)
