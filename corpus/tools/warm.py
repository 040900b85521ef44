"""Bring files into the page cache: warm.py FILE..."""

import sys

for name in sys.argv[1:]:
    with open(name, "rb", buffering=0) as source:
        while source.read(1 << 20):
            pass
