import zlib

data = bytes(range(256)) * 64
crc = 0
block = bytearray(50331648)
for number in range(60):
    block[:1048576:4096] = bytes([number % 256]) * 256
    crc = zlib.crc32(data, crc) + block[4096]
for number in range(500_000):
    number * number
print(crc)
