import os

total = 0
for _ in range(200_000):
    total ^= int.from_bytes(os.urandom(4), "little")
print(total >= 0)
