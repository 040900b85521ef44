"""Threads digest blocks (which releases the interpreter), all inside one lock."""

import hashlib
import os
import threading

JOBS = 1200
BLOCK = bytes(1 << 19)
lock = threading.Lock()
totals = []


def digest(job):
    return hashlib.sha256(BLOCK + bytes([job % 256])).digest()[0]


def worker(first, count):
    for job in range(first, JOBS, count):
        with lock:
            totals.append(digest(job))


count = 2 * len(os.sched_getaffinity(0))
threads = [threading.Thread(target=worker, args=(first, count)) for first in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(totals))
