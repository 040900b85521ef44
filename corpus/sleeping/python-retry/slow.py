"""Work in 40 steps, with a pause after each."""

import hashlib
import time

digest = b""
for _ in range(40):
    for _ in range(3000):
        digest = hashlib.sha256(digest).digest()
    time.sleep(0.02)
print(digest.hex())
