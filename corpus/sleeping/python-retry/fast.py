"""Work in 40 steps, without a pause."""

import hashlib

digest = b""
for _ in range(40):
    for _ in range(3000):
        digest = hashlib.sha256(digest).digest()
print(digest.hex())
