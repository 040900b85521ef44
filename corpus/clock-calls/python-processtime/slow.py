"""Work on 400000 items; time.process_time, which is a system call, is read twice for each."""

import time

busy = 0.0
value = 1
for item in range(400000):
    start = time.process_time()
    value = (value * 1664525 + 1013904223) & 0xFFFFFFFF
    busy += time.process_time() - start
print(value, busy >= 0)
