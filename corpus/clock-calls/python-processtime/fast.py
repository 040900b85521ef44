"""Work on 400000 items; time.process_time is read at the start and at the end."""

import time

value = 1
start = time.process_time()
for item in range(400000):
    value = (value * 1664525 + 1013904223) & 0xFFFFFFFF
busy = time.process_time() - start
print(value, busy >= 0)
