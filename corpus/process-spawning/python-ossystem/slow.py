import os

total = sum(n * n % 7 for n in range(700_000))
found = 0
for n in range(60):
    if os.system(f"grep -q root /etc/passwd && test {n} -ge 30") == 0:
        found += 1
print(found, total)
