"""Start a program some times under a tracer, and print what the tracer saw: the time from the end of
execve to the program's first write on standard output, as it was published.

    python3 traced.py perf|strace TIMES COMMAND...

Prints `start_median` and `start_minimum` in microseconds.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=True, **more).stdout


def by_perf(command, folder):
    """perf only records that a tracepoint was passed; its file is read afterwards."""
    record = os.path.join(folder, "perf.data")
    run(["perf", "record", "-q", "-o", record, "-e", "syscalls:sys_exit_execve,syscalls:sys_enter_write", *command])
    begin = None
    for line in run(["perf", "script", "-i", record, "--ns", "-F", "time,event,trace"]).splitlines():
        seen = re.match(r"\s*([0-9]+\.[0-9]+):\s+syscalls:(\w+):(.*)", line)
        if seen is None:
            continue
        if seen[2] == "sys_exit_execve" and re.search(r"\b0x0\b|= 0\b", seen[3]):
            begin = float(seen[1])
        elif seen[2] == "sys_enter_write" and begin and re.search(r"fd: (0x0*1)\b", seen[3]):
            return float(seen[1]) - begin
    raise SystemExit("perf saw no write")


def by_strace(command, folder):
    """strace stops the program at the entry and at the exit of each call."""
    record = os.path.join(folder, "strace.txt")
    run(["strace", "-f", "-ttt", "-T", "-o", record, *command])
    begin = None
    for line in open(record, encoding="utf-8", errors="replace"):
        seen = re.match(r"\d+ +([0-9.]+) (execve|write)\((\w*)(.*)", line)
        if seen is None:
            continue
        took = re.search(r"= 0 <([0-9.]+)>$", line)
        if seen[2] == "execve" and took:
            begin = float(seen[1]) + float(took[1])
        elif seen[2] == "write" and begin and seen[3] == "1":
            return float(seen[1]) - begin
    raise SystemExit("strace saw no write")


def main():
    tracer, times, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seen_by = {"perf": by_perf, "strace": by_strace}[tracer]
    with tempfile.TemporaryDirectory() as folder:
        starts = [1e6 * seen_by(command, folder) for _ in range(times)]
    print(f"start_median {statistics.median(starts):.1f} us")
    print(f"start_minimum {min(starts):.1f} us")


main()
