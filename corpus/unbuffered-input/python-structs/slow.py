import struct
import sys

total = 0.0
with open(sys.argv[1], "rb", buffering=0) as source:
    while len(record := source.read(12)) == 12:
        a, b, c = struct.unpack("<III", record)
        total += (a + b) % 1000 + c % 7
print(total)
