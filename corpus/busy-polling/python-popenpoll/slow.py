import subprocess

child = subprocess.Popen(["awk", "BEGIN { for (i = 0; i < 6000000; i++) s += i % 7; print s }"])
while child.poll() is None:
    pass
print("done")
