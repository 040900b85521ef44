import subprocess

total = 0
for number in range(80):
    total += sum(n % 7 for n in range(10_000))
    done = subprocess.run(["sed", "s/a/b/g"], input=f"abba {number}", capture_output=True, text=True, check=True)
    total += len(done.stdout)
print(total)
