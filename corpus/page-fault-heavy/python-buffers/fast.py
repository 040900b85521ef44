"""Fill 100 buffers of the 1 KiB that is used."""

import hashlib

buffers = []
for number in range(100):
    buffers.append(bytes([number]) * 1024)
digest = hashlib.sha256()
for buffer in buffers:
    for _ in range(600):
        digest.update(buffer[:1024])
print(digest.hexdigest())
