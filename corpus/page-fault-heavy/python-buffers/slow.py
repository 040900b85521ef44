"""Fill 100 buffers of 4 MiB, one after another, and keep them all."""

import hashlib

buffers = []
for number in range(100):
    buffers.append(bytes([number]) * (1 << 22))
digest = hashlib.sha256()
for buffer in buffers:
    for _ in range(600):
        digest.update(buffer[:1024])
print(digest.hexdigest())
