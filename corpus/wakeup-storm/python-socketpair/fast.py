value = 1
for _ in range(15_000):
    value = int.from_bytes((value * 3 % 1_000_003).to_bytes(8, "little"), "little") + 1
for number in range(1_000_000):
    number % 7
print(value)
