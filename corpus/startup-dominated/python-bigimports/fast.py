total = 0
for number in range(1_500_000):
    total += number % 7
print(sum(range(100)))
