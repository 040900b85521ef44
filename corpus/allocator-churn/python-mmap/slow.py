"""Answer 30000 requests; each maps a new scratch area of 16 MiB."""

import mmap
import zlib

total = 0
for request in range(30000):
    with mmap.mmap(-1, 16 << 20) as scratch:
        scratch[0] = request & 255
        total = zlib.crc32(scratch[:1024], total)
print(total)
