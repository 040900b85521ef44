"""A digest of a few numbers; only what it needs is imported."""

import hashlib

digest = b""
for _ in range(60000):
    digest = hashlib.sha256(digest).digest()
print(digest.hex())
