"""Find 20 names along a path of 300 folders, 30 times over."""

import os
import sys
import zlib

BLOCK = bytes(1 << 17)
folders = [os.path.join(sys.argv[1], name) for name in sorted(os.listdir(sys.argv[1]))]


def search(name):
    for number, folder in enumerate(folders):
        if os.path.exists(folder + "/" + name):
            return number
    return -1


total = 0
for _ in range(30):
    for item in range(20):
        total = zlib.crc32(BLOCK, total + search(f"item{item:02d}"))
print(total)
