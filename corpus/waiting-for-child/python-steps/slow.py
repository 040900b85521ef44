"""Four digests, each by a child that is awaited before the next one starts."""

import subprocess
import sys

CODE = """
import hashlib, sys
print(hashlib.sha256(bytes([int(sys.argv[1])]) * 150_000_000).hexdigest())
"""
for part in range(4):
    subprocess.run([sys.executable, "-c", CODE, str(part)], check=True)
