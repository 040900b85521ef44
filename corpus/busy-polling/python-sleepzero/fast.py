"""One thread a CPU digests (without the interpreter); the main thread joins them."""

import hashlib
import os
import threading

BLOCK = bytes(1 << 20)
digests = {}


def worker(number):
    digest = hashlib.sha256()
    for _ in range(500):
        digest.update(BLOCK)
    digests[number] = digest.hexdigest()


threads = [threading.Thread(target=worker, args=(number,)) for number in range(len(os.sched_getaffinity(0)))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for number in sorted(digests):
    print(number, digests[number])
