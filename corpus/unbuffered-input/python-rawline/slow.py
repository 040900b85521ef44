import os

words = 0
with os.fdopen(0, "rb", buffering=0) as lines:
    while line := lines.readline():
        words += len(line.split())
print(words)
