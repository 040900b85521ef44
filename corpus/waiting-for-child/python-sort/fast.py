"""Order the lines of a file here, three times over."""

import sys

with open(sys.argv[1]) as source:
    lines = source.read().splitlines()
checks = []
for key in (0, 1, 2):
    checks.append(len(sorted(lines, key=lambda line: line.split(" ")[key:])))
print(checks)
