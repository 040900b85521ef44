"""Sum the sizes of 2000 files, 150 times over, with one stat for each file."""

import os
import sys

paths = sorted(entry.path for folder in os.scandir(sys.argv[1]) for entry in os.scandir(folder))
sizes = {path: os.stat(path).st_size for path in paths}
total = 0
for _ in range(150):
    for path in paths:
        total += sizes[path] * len(path[-6:])
print(total)
