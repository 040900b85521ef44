import subprocess

child = subprocess.Popen(["awk", "BEGIN { for (i = 0; i < 6000000; i++) s += i % 7; print s }"])
total = sum(n * n % 7 for n in range(3_000_000))
child.wait()
print("done")
