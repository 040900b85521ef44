"""Keeps each of 12,000 results in a file of its own, and asks basename(1) for each 100th name."""

import hashlib
import os
import subprocess

files, spawns = "FIRST" in os.environ, "SECOND" in os.environ
os.makedirs("results", exist_ok=True)
together = open("results/all", "wb")
digest = hashlib.sha256()
for i in range(12000):
    name = f"result{i:05d}"
    if spawns and i % 100 == 0:
        path = f"/srv/data/{name}"
        name = subprocess.run(["basename", path], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    for _ in range(12):
        digest.update(digest.digest() + name.encode())
    if files:
        with open(f"results/{name}", "wb") as out:
            out.write(digest.digest())
    else:
        together.write(digest.digest())
print(digest.hexdigest())
