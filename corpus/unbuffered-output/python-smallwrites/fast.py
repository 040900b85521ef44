"""Write 8-byte records into a buffered file."""

import struct
import zlib

state = 1
with open("records", "wb") as output:
    for _ in range(300000):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        output.write(struct.pack("<II", state, state >> 7))
with open("records", "rb") as source:
    print(zlib.crc32(source.read()))
