total = sum(n * n % 7 for n in range(700_000))
found = 0
with open("/etc/passwd") as names:
    there = "root" in names.read()
for n in range(60):
    if there and n >= 30:
        found += 1
print(found, total)
