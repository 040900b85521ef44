import time

total, used = 0, 0.0
for number in range(250_000):
    before = time.thread_time()
    total += number * number % 7
    used += time.thread_time() - before
print(total)
