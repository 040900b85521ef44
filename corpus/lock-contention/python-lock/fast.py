"""Threads digest blocks (which releases the interpreter), each with its own sum."""

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
    total = sum(digest(job) for job in range(first, JOBS, count))
    with lock:
        totals.append(total)


count = len(os.sched_getaffinity(0))
threads = [threading.Thread(target=worker, args=(first, count)) for first in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(totals))
