#!/usr/bin/env python3
"""Run each slow/fast pair once, warm, and check that the slow program has the cause.

Time, switches, faults and bytes come from an unobserved run. Counts per system
call come from a second run under `perf stat` (or `strace -c -f` if perf isn't
allowed), seconds per system call from a run under `strace -c -w -f`.
"""

import argparse
import hashlib
import json
import operator
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import build

LIMIT_SECONDS = 60
OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
EXPRESSION = re.compile(r"^([a-z_0-9.]+) (>=|<=|>|<) ([0-9.e]+)$")


def open_stdin(spec):
    """Returns (the argument for Popen, the feeder to reap)."""
    if spec["kind"] == "file":
        return open(spec["path"], "rb"), None
    if spec["kind"] == "feed":
        feeder = subprocess.Popen(spec["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        return feeder.stdout, feeder
    return open(os.devnull, "rb"), None


def open_stdout(spec, keep):
    """Returns (the argument for Popen, the reader to reap). `keep`: a file for the output."""
    if keep:
        return open(keep, "wb"), None
    if spec["kind"] == "file":
        return open(spec["path"], "wb"), None
    if spec["kind"] == "pipe":
        drain = subprocess.Popen(spec["argv"], stdin=subprocess.PIPE)
        return drain.stdin, drain
    return open(os.devnull, "wb"), None


def read_io(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/io").read_text()
    except OSError:
        return {}
    return {key: int(value) for key, value in (line.split(": ") for line in text.splitlines())}


def run(side, prefix=(), keep=None, watch=None):
    """Makes one run and returns its metrics. Raises RuntimeError if the run fails.

    `watch(pid)` is called in a separate thread once the program has started.
    """
    for argv in side["prepare"]:
        subprocess.run(argv, check=True, cwd=side["cwd"], stdin=subprocess.DEVNULL)
    stdin, feeder = open_stdin(side["stdin"])
    stdout, drain = open_stdout(side["stdout"], keep)
    start = time.monotonic()
    child = subprocess.Popen(
        [*prefix, *side["argv"]], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
        cwd=side["cwd"], env={**os.environ, **side["env"]}, process_group=0)
    stdin.close()
    stdout.close()
    limit = threading.Timer(LIMIT_SECONDS, os.killpg, (child.pid, signal.SIGKILL))
    limit.start()
    if watch:
        threading.Thread(target=watch, args=(child.pid,)).start()
    try:
        with child.stderr as pipe:
            errors = pipe.read()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - start
        counts = read_io(child.pid)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        raise
    finally:
        limit.cancel()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        for helper in (feeder, drain):
            if helper:
                helper.wait(timeout=LIMIT_SECONDS)
    if child.returncode != 0:
        raise RuntimeError(f"{side['argv']} exited with {child.returncode}: {errors.decode()[-500:]}")
    cpu = usage.ru_utime + usage.ru_stime
    metrics = {
        "wall": wall, "cpu": cpu, "cpu_per_wall": cpu / wall,
        "switches": usage.ru_nvcsw, "preemptions": usage.ru_nivcsw,
        "all_switches": usage.ru_nvcsw + usage.ru_nivcsw,
        "minor_faults": usage.ru_minflt, "major_faults": usage.ru_majflt,
    }
    if counts:
        metrics |= {
            "read_calls": counts["syscr"], "write_calls": counts["syscw"],
            "bytes_per_read": counts["rchar"] / max(counts["syscr"], 1),
            "bytes_per_write": counts["wchar"] / max(counts["syscw"], 1),
            "disk_bytes_read": counts["read_bytes"],
        }
    return metrics


def names_in(mechanism, suffix):
    names = (EXPRESSION.match(text).group(1) for text in mechanism)
    return sorted({name.removesuffix(suffix) for name in names if name.endswith(suffix)})


def perf_counts(side, calls):
    with tempfile.NamedTemporaryFile("r") as report:
        events = ",".join(f"syscalls:sys_enter_{call}" for call in calls)
        run(side, ["perf", "stat", "-x,", "-o", report.name, "-e", events, "--"])
        rows = [line.split(",") for line in report.read().splitlines() if "sys_enter_" in line]
    return {row[2].removeprefix("syscalls:sys_enter_") + ".calls": int(row[0]) for row in rows}


def strace_counts(side, calls):
    """Returns the count and the wall seconds of each of `calls`, over all processes."""
    with tempfile.NamedTemporaryFile("r") as report:
        run(side, ["strace", "-f", "-c", "-w", "-U", "name,calls,total-time", "--seccomp-bpf",
                   "-e", "trace=" + ",".join(calls), "-o", report.name, "--"])
        rows = [line.split() for line in report.read().splitlines()]
    found = {f"{call}.{unit}": 0 for call in calls for unit in ("calls", "seconds")}
    for row in rows:
        if len(row) == 3 and row[0] in calls:
            found[row[0] + ".calls"] = int(row[1])
            found[row[0] + ".seconds"] = float(row[2])
    return found


def busy_threads(side):
    """Returns the mean number of running or runnable threads of the process, sampled every 5 ms.

    Unlike CPU time over wall time, this doesn't change on a machine that is busy with other work.
    """
    running = []

    def watch(pid):
        while True:
            try:
                states = [stat.read_text().rpartition(")")[2].split()[0]
                          for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
            except OSError:
                continue  # a thread ended after it was listed
            if not states or "Z" in states:
                return
            running.append(states.count("R"))
            time.sleep(0.005)

    run(side, watch=watch)
    return sum(running) / max(len(running), 1)


def observe(side, mechanism):
    run(side)  # warm-up
    metrics = run(side)
    counted, timed = names_in(mechanism, ".calls"), names_in(mechanism, ".seconds")
    if counted:
        try:
            metrics |= perf_counts(side, counted)
        except (RuntimeError, OSError, ValueError):
            metrics |= strace_counts(side, counted)
    if names_in(mechanism, "busy_threads"):
        metrics["busy_threads"] = busy_threads(side)
    if timed:
        metrics |= {key: value for key, value in strace_counts(side, timed).items() if key.endswith(".seconds")}
    return metrics


def holds(text, metrics):
    name, sign, limit = EXPRESSION.match(text).groups()
    return name in metrics and OPERATORS[sign](metrics[name], float(limit))


def output_digest(side):
    with tempfile.NamedTemporaryFile() as kept:
        run(side, keep=kept.name)
        return hashlib.sha256(pathlib.Path(kept.name).read_bytes()).hexdigest()


def judge(entry, slow, fast):
    """Returns the problems of the pair as a list of short sentences."""
    wrong = [f"slow: not {text}" for text in entry["mechanism"] if not holds(text, slow)]
    if all(holds(text, fast) for text in entry["mechanism"]):
        wrong.append("the twin has the mechanism too")
    return wrong


def measure(entry):
    slow, fast = (observe(entry[side], entry["mechanism"]) for side in build.VARIANTS)
    wrong = judge(entry, slow, fast)
    if output_digest(entry["slow"]) != output_digest(entry["fast"]):
        wrong.append("the twin's output differs")
    return slow, fast, wrong


def show(value):
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def evidence(entry, slow, fast):
    names = [EXPRESSION.match(text).group(1) for text in entry["mechanism"]]
    names = list(dict.fromkeys(["wall", "cpu", *names]))
    sides = (", ".join(f"{name} {show(side[name])}" for name in names) for side in (slow, fast))
    return "slow: {}; twin: {}".format(*sides)


def record(lines):
    """Writes the evidence sentences into the manifest."""
    path = build.HERE / "corpus.toml"
    out, current = [], None
    for line in path.read_text().splitlines():
        if line.startswith("id = "):
            current = line[6:-1]
        if current in lines and line.startswith("evidence = "):
            line = f'evidence = "{lines[current]}"'
        out.append(line)
    path.write_text("\n".join(out) + "\n")


COLUMNS = ("wall", "cpu", "switches", "preemptions", "minor_faults", "major_faults", "read_calls", "write_calls")


def row(label, metrics):
    return f"{label:46}" + "".join(f"{show(metrics[name]) if name in metrics else '-':>10}" for name in COLUMNS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="the build directory; built first")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose id contains TEXT")
    parser.add_argument("--tries", type=int, default=3, metavar="N",
                        help="measure a pair that is not as described up to N times (default 3): a busy machine "
                             "can hide the cause")
    parser.add_argument("--json", metavar="FILE", help="write all the metrics to FILE")
    parser.add_argument("--record", action="store_true", help="write the measurements into the manifest")
    options = parser.parse_args()
    # If the check is terminated, it also ends the running program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
    plan, failures = build.build_all(options.directory, options.only)
    for name, error in failures:
        print(f"failed   {name}: {error}")
    print(f"{'':46}" + "".join(f"{name.replace('_', ' ').replace('minor', 'min').replace('major', 'maj'):>10}" for name in COLUMNS))
    bad, measured, sentences = len(failures), {}, {}
    for entry in plan:
        if entry["missing"]:
            print(f"{entry['id']}: not run, missing {', '.join(entry['missing'])}")
            continue
        try:
            for _ in range(options.tries):
                slow, fast, wrong = measure(entry)
                if not wrong:
                    break
        except (RuntimeError, OSError) as error:
            print(f"{entry['id']}: {error}")
            bad += 1
            continue
        print(row(entry["id"], slow))
        print(row("    twin", fast) + f"   {slow['wall'] / fast['wall']:.1f}x", flush=True)
        for text in wrong:
            print(f"    WRONG: {text}")
        bad += bool(wrong)
        measured[entry["id"]] = {"slow": slow, "fast": fast}
        if not wrong:
            sentences[entry["id"]] = evidence(entry, slow, fast)
            if options.record:  # at once, so an interruption doesn't lose these measurements
                record(sentences)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(measured, indent=1))
    print(f"{len(sentences)} pairs as described, {bad} not")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
