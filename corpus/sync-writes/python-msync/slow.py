import mmap
import os

descriptor = os.open("table", os.O_CREAT | os.O_RDWR)
os.ftruncate(descriptor, 1 << 20)
table = mmap.mmap(descriptor, 1 << 20)
total = 0
for number in range(500):
    total += sum(n % 7 for n in range(2000))
    at = number * 2000 % (1 << 20)
    table[at:at + 4] = b"data"
    table.flush()
print(total)
