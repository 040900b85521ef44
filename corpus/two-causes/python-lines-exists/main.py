"""Looks in 300 folders, none of which is there, for the word of each line of a slow producer."""

import os
import sys
import zlib

BLOCK = bytes(1 << 17)
looks = "SECOND" in os.environ
where, total = {}, 0


def search(name):
    for number in range(300):
        if os.path.exists(f"/srv/plugins/p{number:03d}/{name}"):
            return number
    return -1


for at, line in enumerate(sys.stdin):
    name = f"item{at % 10:02d}"
    if looks or name not in where:
        where[name] = search(name)
    total = zlib.crc32(BLOCK, total + where[name] + len(line))
print(total)
