import random

total = 0
for _ in range(200_000):
    total ^= random.getrandbits(32)
for number in range(600_000):
    number % 7
print(total >= 0)
