import os

words = 0
with os.fdopen(0, "rb") as lines:
    while line := lines.readline():
        words += len(line.split())
for number in range(1_000_000):
    number % 7
print(words)
