"""The names of 250 paths by basename(1); after each 10th it waits 10 ms to be sure."""

import hashlib
import os
import subprocess
import time

spawns, waits = "FIRST" in os.environ, "SECOND" in os.environ
total = hashlib.sha256()
for i in range(250):
    path = f"/srv/data/{i % 7}/file{i:04d}.txt"
    if spawns:
        name = subprocess.run(["basename", path], stdout=subprocess.PIPE, check=True).stdout.strip()
    else:
        name = os.path.basename(path).encode()
    for _ in range(500):
        name = hashlib.sha256(name).digest()
    total.update(name)
    if waits and i % 10 == 0:
        time.sleep(0.01)
print(total.hexdigest())
