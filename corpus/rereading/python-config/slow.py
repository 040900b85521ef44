"""30000 requests; each reads the configuration to find one setting."""

import hashlib
import sys


def setting(name):
    with open(sys.argv[1], "rb") as source:
        text = source.read()
    at = text.index(name + b"=") + len(name) + 1
    return text[at : text.index(b"\n", at)]


digest = hashlib.sha256()
for request in range(30000):
    digest.update(setting(b"key%06d" % (request % 4)))
    for _ in range(4):
        digest.update(digest.digest())
print(digest.hexdigest())
