"""A digest of a few numbers; only what it needs is imported."""

import hashlib

digest = b""
for _ in range(100000):
    digest = hashlib.sha256(digest).digest()
print(digest.hex())
