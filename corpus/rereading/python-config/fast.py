"""30000 requests; the configuration is read once."""

import hashlib
import sys

with open(sys.argv[1], "rb") as source:
    text = source.read()

def setting(name):
    at = text.index(name + b"=") + len(name) + 1
    return text[at : text.index(b"\n", at)]

digest = hashlib.sha256()
for request in range(30000):
    digest.update(setting(b"key%06d" % (request % 4)))
    for _ in range(4):
        digest.update(digest.digest())
print(digest.hexdigest())
