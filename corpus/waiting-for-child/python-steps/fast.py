"""Four digests by threads of this process (hashlib releases the interpreter)."""

import concurrent.futures
import hashlib
import os


def digest(part):
    digest, block = hashlib.sha256(), bytes([part]) * 1_000_000
    for _ in range(150):
        digest.update(block)
    return digest.hexdigest()


with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
    for line in pool.map(digest, range(4)):
        print(line)
