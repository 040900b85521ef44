"""Answer 30000 requests; all of them use one scratch area."""

import mmap
import zlib

total = 0
with mmap.mmap(-1, 16 << 20) as scratch:
    for request in range(30000):
        scratch[0] = request & 255
        total = zlib.crc32(scratch[:1024], total)
print(total)
