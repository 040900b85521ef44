"""One thread a CPU digests (without the interpreter); the main thread looks again and again."""

import hashlib
import os
import threading
import time

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
while any(thread.is_alive() for thread in threads):
    time.sleep(0)
for number in sorted(digests):
    print(number, digests[number])
