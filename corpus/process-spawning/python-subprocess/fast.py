"""The names of 500 paths by os.path.basename."""

import hashlib
import os.path


def work(name):
    for _ in range(300):
        name = hashlib.sha256(name).digest()
    return name


total = hashlib.sha256()
for i in range(500):
    path = f"/srv/data/{i % 7}/file{i:04d}.txt"
    name = os.path.basename(path).encode()
    total.update(work(name))
print(total.hexdigest())
