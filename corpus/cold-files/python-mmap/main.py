"""Look up 4000 random records in a mapped file."""

import hashlib
import mmap
import sys

RECORD = 64
with open(sys.argv[1], "rb") as source:
    data = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
data.madvise(mmap.MADV_RANDOM)
state, digest = 1, b""
for _ in range(4000):
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    at = (state >> 4) % (len(data) // RECORD) * RECORD
    for _ in range(25):
        digest = hashlib.sha256(digest + data[at : at + RECORD]).digest()
print(digest.hex())
