total = 0
for item in range(20):
    total += 42 + sum(n % 7 for n in range(50_000))
print(total)
