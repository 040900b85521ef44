#!/usr/bin/env python3
"""Records runs of 13 programs that take 1 to 50 ms, each four times per round in random order. The results,
recorded/REGIME.txt.gz, are for the replay of gates and for the noise of generated series.

    python3 benches/record.py --fathom target/release/fathom quiet          # nothing else may run
    python3 benches/record.py --fathom target/release/fathom periodic busy  # starts its loads itself

Each line of the file has a program, an arm (0 to 3) and a clock (wall, cpu_wait_free), then one value per round
in microseconds, 0 if unknown. All four arms are the same command.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROUNDS = 120
ARMS = 4
REGIMES = {
    # The loads: CPU, seconds of work, seconds of rest.
    "quiet": [],
    "periodic": [(1, 0.005, 0.005)],
    "busy": [(cpu, 1.0, 0.0) for cpu in range(os.cpu_count())],
}
LOAD = """
import os, sys, time
cpu, work, rest, parent = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
os.sched_setaffinity(0, {cpu})
while os.getppid() == parent:
    end = time.monotonic() + work
    while time.monotonic() < end:
        pass
    time.sleep(rest) if rest else None
"""


def programs(folder):
    """Returns single-threaded programs without children, by name."""
    text, small = folder / "text", folder / "small"
    rng = random.Random(39)
    words = ["".join(rng.choice("abcdefghij") for _ in range(rng.randint(2, 9))) for _ in range(999)]
    lines = [" ".join(rng.choice(words) for _ in range(9)) for _ in range(9000)]
    text.write_text("\n".join(lines) + "\n")
    small.write_text("\n".join(lines[:2000]) + "\n")
    return {
        "awk": ["awk", "{n += NF; m += length($2)} END {print n, m}", text],
        "base64": ["base64", text],
        "bzip2": ["bzip2", "-c", small],
        "cksum": ["cksum", text],
        "grep": ["grep", "-c", "abc.*def", text],
        "gzip": ["gzip", "-c", "-6", text],
        "md5sum": ["md5sum", text, text, text],
        "od": ["od", "-x", small],
        "perl": ["perl", "-e", "$s += $_ * $_ for 1 .. 300000; print $s"],
        "sed": ["sed", "-e", "s/ab*c/x/g", text],
        "sort": ["sort", "--parallel=1", small],
        "wc": ["wc", text],
        "xz": ["xz", "-c", "-0", "-T1", small],
    }


def record(fathom, regime, folder):
    commands = programs(folder)
    lines = [" ".join(shell_quote(str(word)) for word in words) for words in commands.values()]
    loads = [
        subprocess.Popen([sys.executable, "-c", LOAD, str(cpu), str(work), str(rest), str(os.getpid())])
        for cpu, work, rest in REGIMES[regime]
    ]
    result = folder / "record.json"
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "XDG_CACHE_HOME": str(folder)}
    try:
        subprocess.run(
            [fathom, "bench", "-r", str(ROUNDS), "-w", "2", "--style", "none", "--json", result]
            + lines * ARMS,
            check=True,
            env=environment,
        )
    finally:
        for load in loads:
            load.kill()
            load.wait()
    runs = json.loads(result.read_text())["runs"]
    rows = []
    for place, name in enumerate(commands):
        for arm in range(ARMS):
            own = [run for run in runs if run["benchmark"] == place + arm * len(commands)]
            own.sort(key=lambda run: run["round"])
            for clock in ["wall", "cpu_wait_free"]:
                values = [run.get(clock + "_ns") or 0 for run in own]
                rows.append(f"{name} {arm} {clock} {' '.join(four(value / 1000) for value in values)}\n")
    target = pathlib.Path(__file__).parent / "recorded" / f"{regime}.txt.gz"
    target.write_bytes(gzip.compress("".join(rows).encode(), 9, mtime=0))
    print(f"{target}: {len(rows)} rows, {target.stat().st_size} bytes")


def four(value):
    """Formats a value with four significant digits, without an exponent."""
    return f"{value:.4g}" if value < 1000 else f"{round(value, 3 - int(math.log10(value))):.0f}"


def shell_quote(word):
    return "'" + word.replace("'", "'\\''") + "'"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--fathom", default="target/release/fathom")
    arguments.add_argument("regimes", nargs="+", choices=REGIMES)
    arguments = arguments.parse_args()
    fathom = os.path.abspath(arguments.fathom)
    with tempfile.TemporaryDirectory() as folder:
        for regime in arguments.regimes:
            record(fathom, regime, pathlib.Path(folder))


main()
