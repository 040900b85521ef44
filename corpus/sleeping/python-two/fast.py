import sys

total = 0
for step in range(30):
    for number in range(4_000):
        total += number % 7
        sys.stdout.write("%d " % total)
for number in range(1_000_000):
    number % 7
