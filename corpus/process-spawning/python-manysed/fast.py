total = 0
for number in range(80):
    total += sum(n % 7 for n in range(10_000))
    total += len(f"abba {number}".replace("a", "b"))
print(total)
