"""One thread a CPU digests (without the interpreter); the main thread asks a pipe, over and over."""

import hashlib
import os
import select
import threading

BLOCK = bytes(1 << 20)
readable, writable = os.pipe()


def worker(number):
    digest = hashlib.sha256(bytes([number]))
    for _ in range(500):
        digest.update(BLOCK)
    os.write(writable, digest.digest())


threads = [threading.Thread(target=worker, args=(number,)) for number in range(len(os.sched_getaffinity(0)))]
for thread in threads:
    thread.start()
digests = []
while len(digests) < len(threads):
    ready, _, _ = select.select([readable], [], [], 0)
    if ready:
        digests.append(os.read(readable, 32).hex())
for thread in threads:
    thread.join()
print(sorted(digests))
