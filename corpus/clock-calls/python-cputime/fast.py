import time

total = 0
before = time.thread_time()
for number in range(1_000_000):
    if number < 250_000:
        total += number * number % 7
used = time.thread_time() - before
print(total)
