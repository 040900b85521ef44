"""Answer 80000 requests; all of them use one buffer."""

import zlib

total = 0
buffer = bytearray(40 << 20)
for request in range(80000):
    buffer[0] = request & 255
    total = zlib.crc32(buffer[:1024], total)
print(total)
