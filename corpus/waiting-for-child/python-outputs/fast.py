import subprocess

all = [subprocess.Popen(["awk", f"BEGIN {{ for (i = 0; i < 4000000; i++) s += i % {n}; print s }}"], stdout=subprocess.PIPE) for n in (3, 5, 7, 9)]
print(sum(int(one.communicate()[0]) for one in all))
