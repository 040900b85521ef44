total = 0
for number in range(120_000):
    total += number * number % 7
    print("record", number, total)
