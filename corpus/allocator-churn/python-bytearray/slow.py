"""Answer 80000 requests; each makes a new buffer of 40 MiB."""

import zlib

total = 0
for request in range(80000):
    buffer = bytearray(40 << 20)
    buffer[0] = request & 255
    total = zlib.crc32(buffer[:1024], total)
print(total)
