#!/bin/sh
# Makes the measurements for the three questions in docs/log/startup.md and prints its tables, in about a minute:
#   scripts/startup-questions.sh [FATHOM]
# Run it as root on a quiet machine. Needs cc, readelf, go, python3; perf and strace for the third table.
# It leaves no files behind.
set -eu
fathom=$(command -v "${1:-fathom}") || { echo "no such program: ${1:-fathom}" >&2; exit 2; }
fathom=$(realpath "$fathom")
here=$(cd "$(dirname "$0")/.." && pwd)
source=$here/experiments/startup-showdown/src
# Not in /tmp: if that is in memory, its files can't be cold.
mkdir -p "$here/target"
work=$(mktemp -d "$here/target/startup-questions.XXXXXX")
trap 'cd / && rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

cc -O2 -s -o "$work/c" "$source/hello.c"
cc -O2 -s -static -o "$work/c-static" "$source/hello.c"
cc -static -nostdlib -o "$work/c-bare" "$source/hello_bare.c"
"$source/private-libc.sh" "$source/hello.c" "$work/private"
(cd "$source" && go build -o "$work/go" hello.go && go build -o "$work/go-syscall" hello_syscall.go)
cd "$work"

measure() {
    file=$1
    shift
    "$fathom" startup --json "$file" "$@" >/dev/null
}
measure cold.json --cold -r 40 ./c ./private/hello ./c-static ./c-bare
measure go.json -r 200 ./c ./go ./go-syscall
measure cores.json -r 200 --traced 0 --env A=1 --env GOMAXPROCS=1 --env GOMAXPROCS=2 ./go ./go ./go
measure pinned.json -r 200 --traced 0 --pin 0 ./go
measure traced.json -r 50 --traced 20 ./c

if command -v perf >/dev/null && command -v strace >/dev/null; then
    for run in $(seq 20); do
        perf record -q -o "perf.$run" -e syscalls:sys_exit_execve,syscalls:sys_enter_write \
            -- ./c >/dev/null 2>&1 || true
        perf script -F time,event --ns -i "perf.$run" >"perf.$run.txt" 2>/dev/null || true
        strace -f -ttt -T -o "strace.$run.txt" ./c >/dev/null 2>&1 || true
    done
fi

python3 - "$fathom" <<'PYTHON'
import glob
import json
import os
import platform
import statistics
import subprocess
import sys
import time


def load(name):
    with open(name) as file:
        return json.load(file)


def us(ns):
    return f"{ns / 1e3:.0f} µs" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def size(count):
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.2f} MiB"


def runs(record, program, cache):
    return [
        run
        for run in record["runs"]
        if run["program"] == program and run["cache"] == cache and not run["not_cold"]
    ]


def middle(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def first(record, program, cache="warm"):
    found = middle(run["first_output_ns"] for run in runs(record, program, cache))
    return us(found) if found is not None else "not cold"


def stayed(record, program):
    for cold in record["cold"]:
        if cold["program"] == program:
            known = [file for file in cold["files"] if file["pages_left"] is not None]
            left = sum(file["pages_left"] for file in known) * os.sysconf("SC_PAGE_SIZE")
            whole = f" of {size(cold['bytes'])}" if left else ""
            return f"{size(left) if left else 'nothing'}{whole}"
    return "unknown"


def phase(record, program, *names):
    for trace in record["traces"]:
        if trace["program"] == program:
            found = [one["ns"] for one in trace["phases"] if one["phase"] in names]
            return us(found[0]) if found else "not observed"
    return "not observed"


version = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout.strip()
print(f"{version}, {time.strftime('%d %B %Y', time.gmtime())}, Linux {platform.release()}, "
      f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}. p50 to the first byte.\n")

record = load("cold.json")
print("How much of C's speed comes from libc being in memory already?\n")
print("| C hello, 40 rounds | warm | cold | read from the device | stayed in memory |")
print("|---|---|---|---|---|")
for program, name in enumerate([
    "dynamic, the system's C library",
    "dynamic, with private copies of library and loader",
    "static",
    "no C library at all (`_start` and two calls)",
]):
    read = middle(run["read_bytes"] for run in runs(record, program, "cold"))
    print(f"| {name} | {first(record, program)} | {first(record, program, 'cold')} | "
          f"{'nothing: void' if read is None else size(read)} | {stayed(record, program)} |")

go, cores, pinned = load("go.json"), load("cores.json"), load("pinned.json")
print("\nWhy does Go take longer than C, and does the number of cores matter?\n")
print("| 200 rounds | p50 | loader and libraries, observed | runtime and main, observed | page faults |")
print("|---|---|---|---|---|")
for record, program, name in [
    (go, 0, "C"),
    (go, 1, "Go, `fmt.Println`"),
    (go, 2, "Go, `syscall.Write`"),
    (cores, 0, "Go, separate session"),
    (cores, 1, "Go, `GOMAXPROCS=1`, same session"),
    (cores, 2, "Go, `GOMAXPROCS=2`, same session"),
    (pinned, 0, "Go, pinned to one CPU"),
]:
    faults = middle(run["minor_faults"] for run in runs(record, program, "warm"))
    print(f"| {name} | {first(record, program)} | {phase(record, program, 'loader', 'entry')} | "
          f"{phase(record, program, 'runtime_and_main')} | {faults:.0f} |")
ratio = go["comparisons"][0]["ratio"]
print(f"\nGo takes {ratio['value']:.2f} times C's time "
      f"({ratio['level']:.0%} interval {ratio['low']:.2f} to {ratio['high']:.2f}).")


def by_perf(name):
    executed = None
    for line in open(name):
        stamp, _, event = line.strip().partition(": ")
        if "sys_exit_execve" in event:
            executed = float(stamp)
        elif "sys_enter_write" in event and executed is not None:
            return (float(stamp) - executed) * 1e9
    return None


def by_strace(name):
    executed = None
    for line in open(name):
        words = line.split()
        if " execve(" in line:
            executed = float(words[1]) + float(line.rsplit("<", 1)[1].rstrip(">\n"))
        elif " write(1," in line and executed is not None:
            return (float(words[1]) - executed) * 1e9
    return None


record = load("traced.json")
trace = record["traces"][0]
between = ("loader", "entry", "runtime_and_main", "loader_to_main")
print("\nWhat does tracing as perf does it cost, compared with ptrace?\n")
print("| observer of the C hello, 20 runs | end of `execve` to the call of `write` | / Fathom's |")
print("|---|---|---|")
own = sum(one["ns"] for one in trace["phases"] if one["phase"] in between)
rows = [(f"Fathom, tier {trace['tier']} ({trace['slowdown']:.2f}x its untraced time), without waits for a CPU", own)]
rows.append(("`perf record`, two tracepoints", middle(map(by_perf, glob.glob("perf.*.txt")))))
rows.append(("`strace -f -ttt`", middle(map(by_strace, glob.glob("strace.*.txt")))))
for name, ns in rows:
    print(f"| {name} | {us(ns) if ns else 'not run: not installed, or not allowed'} | "
          f"{f'{ns / own:.2f}' if ns and own else ''} |")
agreement = trace["agreement"]
if agreement:
    print(f"\nBoth ways to see the first byte: the parent sees it {agreement['median_difference_ns'] / 1e3:.0f} µs "
          f"later than the kernel, {agreement['largest_difference_ns'] / 1e3:.0f} µs at most.")
PYTHON
