"""The names of 500 paths by basename(1)."""

import hashlib
import subprocess


def work(name):
    for _ in range(300):
        name = hashlib.sha256(name).digest()
    return name


total = hashlib.sha256()
for i in range(500):
    path = f"/srv/data/{i % 7}/file{i:04d}.txt"
    name = subprocess.run(["basename", path], stdout=subprocess.PIPE, check=True).stdout.strip()
    total.update(work(name))
print(total.hexdigest())
