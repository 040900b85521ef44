import os
import time

total = 0
for step in range(30):
    for number in range(4_000):
        total += number % 7
        os.write(1, b"%d " % total)
    time.sleep(0.012)
