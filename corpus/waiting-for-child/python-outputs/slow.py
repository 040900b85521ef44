import subprocess

print(sum(int(subprocess.check_output(["awk", f"BEGIN {{ for (i = 0; i < 4000000; i++) s += i % {n}; print s }}"])) for n in (3, 5, 7, 9)))
