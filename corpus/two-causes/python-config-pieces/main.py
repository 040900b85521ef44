"""15,000 requests; each reads the settings again, and writes ten pieces to a file without a buffer."""

import hashlib
import os
import sys


def settings():
    with open(sys.argv[1], "rb") as source:
        return source.read()


reads = "FIRST" in os.environ
out = open("log", "wb", buffering=0 if "SECOND" in os.environ else -1)
text = settings()
digest = hashlib.sha256()
for request in range(15000):
    if reads:
        text = settings()
    at = text.index(b"key%06d=" % (request % 4)) + 10
    digest.update(text[at : text.index(b"\n", at)])
    for piece in range(10):
        digest.update(digest.digest())
        out.write(b"%d;" % (piece + request % 7))
print(digest.hexdigest())
