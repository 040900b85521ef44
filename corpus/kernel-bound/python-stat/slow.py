"""Sum the sizes of 2000 files, 150 times over, with a stat for each file each time."""

import os
import sys

paths = sorted(entry.path for folder in os.scandir(sys.argv[1]) for entry in os.scandir(folder))
total = 0
for _ in range(150):
    for path in paths:
        total += os.stat(path).st_size * len(path[-6:])
print(total)
