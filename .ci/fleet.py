#!/usr/bin/env python3
"""Runs jobs on a Slurm cluster while parts of it are killed, and checks for lost results, double results and overhead.

usage: fleet.py FATHOM [--jobs N] [--suites N] [--seed N]
"""

import argparse
import glob
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

NODES = 4
ROUNDS = 60
# Average interval between kills, in seconds. They stop once three quarters of the jobs have a result.
KILL_EVERY = 3
# How long a node stays away, in seconds: longer than SlurmdTimeout, after which its jobs are lost.
AWAY = 15

SUITE = """
schema_version = 1
title = "jobs"
[subjects.one]
command = "true"
[[measure]]
id = "time"
how = "bench"
[fleet]
name = "slurm"
check = false
"""

WORK = """#!/bin/sh
[ -e "$1.first" ] || date +%s%3N > "$1.first"
sleep 0.1
"""


class Cluster:
    """Slurm on this machine. Kills only processes that it started, by their ids."""

    def __init__(self, folder, script):
        self.folder, self.script = folder, script
        subprocess.run([script, "up", str(NODES), folder], check=True, stdout=subprocess.DEVNULL)
        os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
        os.environ["PATH"] += ":/usr/sbin"
        self.away = {}
        self.killed = {"job": 0, "step": 0, "node": 0, "controller": 0}

    def down(self):
        subprocess.run([self.script, "down", self.folder], check=False)

    def kill_daemon(self, name):
        with open(f"{self.folder}/run/{name}.pid") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def jobs(self):
        done = subprocess.run(["squeue", "--noheader", "--states=RUNNING", "--format=%i %N"], capture_output=True, text=True)
        return [line.split() for line in done.stdout.splitlines()]

    def processes(self, job):
        """Returns the processes of a job, the script first."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as file:
                    variables = file.read().split(b"\0")
            except OSError:
                continue
            if f"SLURM_JOB_ID={job}".encode() in variables and f"SLURM_CONF={self.folder}/slurm.conf".encode() in variables:
                found.append(int(path.split("/")[2]))
        return sorted(found)

    def kill_something(self, chance):
        running = self.jobs()
        what = chance.choices(["job", "step", "node", "controller"], weights=[3, 3, 2, 1])[0]
        if what == "controller":
            self.kill_daemon("slurmctld")
            time.sleep(2)
            subprocess.run(["slurmctld", "-f", os.environ["SLURM_CONF"]], check=True)
        elif not running:
            return
        else:
            job, node = chance.choice(running)
            if what == "job":
                subprocess.run(["scancel", job], check=False)
            elif what == "step":
                for process in self.processes(job):
                    kill(process)
            elif node in self.away or len(self.away) > 1:
                return
            else:
                # Like a power failure: kill the node's slurmd, the daemon of the job's step, and the job.
                self.kill_daemon(f"slurmd-{node}")
                for stepd in subprocess.run(["pgrep", "-x", "slurmstepd"], capture_output=True, text=True).stdout.split():
                    if any(f"{self.folder}/state/{node}" in link for link in links(stepd)):
                        kill(int(stepd))
                for process in self.processes(job):
                    kill(process)
                self.away[node] = time.monotonic()
        self.killed[what] += 1

    def bring_back(self, all_of_them=False):
        for node, since in list(self.away.items()):
            if all_of_them or time.monotonic() - since > AWAY:
                subprocess.run(["slurmd", "-f", os.environ["SLURM_CONF"], "-N", node], check=True)
                # A node that forgot its job may be drained. An administrator would resume it.
                subprocess.run(["scontrol", "update", f"nodename={node}", "state=resume"], capture_output=True)
                del self.away[node]


def links(process):
    for path in glob.glob(f"/proc/{process}/fd/*"):
        try:
            yield os.readlink(path)
        except OSError:
            pass
    # The spool of its node may also be a stepd's working directory.
    try:
        yield os.readlink(f"/proc/{process}/cwd")
    except OSError:
        pass


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def read(path):
    with open(path) as file:
        return json.load(file)


def survives(fathom, cluster, project, count, chance):
    """Submits jobs, kills parts of the cluster until three quarters have a result, and compares records with journals."""
    begun = {}
    collected = lambda: len(glob.glob(f"{project}/.fathom/jobs/*/collected"))
    before = collected()
    for number in range(count):
        name = f"job-{number:02}"
        begun[name] = time.time()
        command = [fathom, "bench", "-r", str(ROUNDS), "-w", "1", "-n", name, f"./work.sh {name}", "--on", "slurm", "--detach"]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    until = time.monotonic() + 8 * 60
    next_kill = time.monotonic() + 2
    while time.monotonic() < until:
        done = collected() - before
        if done < count * 3 / 4 and time.monotonic() > next_kill:
            cluster.kill_something(chance)
            next_kill = time.monotonic() + chance.expovariate(1 / KILL_EVERY)
        cluster.bring_back(all_of_them=done >= count * 3 / 4)
        looked = subprocess.run([fathom, "jobs"], cwd=project, capture_output=True, text=True)
        if looked.returncode not in (0, 4) or "error" in looked.stderr:
            print(looked.stderr, file=sys.stderr)
        if done == count:
            break
        time.sleep(1)

    history = subprocess.run([fathom, "history", "--metric", "wall", "--json", "-"], cwd=project, capture_output=True, text=True)
    points = {}
    for series in json.loads(history.stdout)["series"]:
        points.setdefault(series["benchmark"], []).extend(series["points"])
    results = {}
    for path in glob.glob(f"{project}/.fathom/jobs/*/0/result-*.json"):
        folder = os.path.dirname(path)
        record = read(f"{folder}/attempt-{read(path)['attempt']}/record.json")
        results.setdefault(record["benchmarks"][0]["name"], []).append((folder, record))
    lost = [name for name in begun if len(points.get(name, [])) == 0]
    double = [name for name in begun if len(points.get(name, [])) > 1]
    wrong, attempts, went_on = [], [], 0
    for name in begun:
        for point in points.get(name, [])[:1]:
            same = [(folder, record) for folder, record in results[name]
                    if abs(statistics.median(run["wall_ns"] for run in record["runs"]) / 1e9 - point["value"]) < 1e-9
                    and len(record["runs"]) == ROUNDS and record["complete"]]
            if not same:
                wrong.append(name)
                continue
            folder, record = same[0]
            attempts.append(record["jobs"][0]["attempts"])
            for earlier in range(1, attempts[-1]):
                try:
                    journal = read(f"{folder}/attempt-{earlier}/record.json")["runs"]
                except (OSError, ValueError):
                    continue
                went_on += bool(journal) and record["runs"][: len(journal)] == journal
    killed = ", ".join(f"{number} of a {what}" for what, number in cluster.killed.items())
    print(f"{count} jobs on {NODES} nodes, killed: {killed}")
    print(f"  lost {len(lost)}, double {len(double)}, different from its journal {len(wrong)} (required: 0, 0, 0)")
    print(f"  attempts: {sum(attempts)} for {len(attempts)} jobs, {went_on} continued where an earlier one had stopped")
    return not lost and not double and not wrong and cluster.killed["job"] + cluster.killed["step"] > 0


def share(fathom, project):
    """Measures the time that Fathom adds between the command and the start of the first measured run. The time from
    writing the script for sbatch to its start on the node is Slurm's part."""
    own, slurm = [], []
    for number in range(5):
        began = time.time() * 1000
        command = [fathom, "bench", "-r", "3", "-n", "start", f"./work.sh start-{number}", "--on", "slurm", "--no-save"]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        group = max(glob.glob(f"{project}/.fathom/jobs/*"))
        handed = os.stat(f"{group}/job-0-1.sh").st_mtime * 1000
        started = read(f"{group}/0/attempt-1/started.json")["at"]
        with open(f"{project}/start-{number}.first") as file:
            first = int(file.read())
        own.append(handed - began + first - started)
        slurm.append(started - handed)
    print(f"submit to start: Fathom's own share {statistics.median(own):.0f} ms (required: below 1000), at most {max(own):.0f} ms; "
          f"Slurm's {statistics.median(slurm):.0f} ms")
    return statistics.median(own) < 1000


def against_itself(fathom, project, suites):
    """Counts gates that call a program worse than itself, as jobs one at a time and without jobs."""
    failed = {}
    for where, on in (("jobs", ["--on", "slurm"]), ("alone", [])):
        failed[where] = 0
        for _ in range(suites):
            command = [fathom, "gate", "--base-cmd", "gzip -9 -k -c data", "--head-cmd", "gzip -9 -k -c data",
                       "--time", "5s", "--no-save", *on]
            failed[where] += subprocess.run(command, cwd=project, capture_output=True).returncode == 1
    print(f"a program against itself called worse: {failed['jobs']} of {suites} suites as jobs (required: 0 or 1), "
          f"{failed['alone']} of {suites} alone")
    return failed["jobs"] <= 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fathom")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--suites", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"--seed {arguments.seed}")
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        project = f"{folder}/project"
        os.makedirs(f"{project}/.fathom")
        for name, text in (("fathom.toml", SUITE), ("work.sh", WORK)):
            with open(f"{project}/{name}", "w") as file:
                file.write(text)
        os.chmod(f"{project}/work.sh", 0o755)
        with open(f"{project}/data", "wb") as file:
            file.write(random.Random(1).randbytes(1 << 20))
        os.environ.update(HOME=folder, XDG_STATE_HOME=f"{folder}/state", XDG_CACHE_HOME=f"{folder}/cache")
        os.environ.pop("FATHOM_STORE", None)
        cluster = Cluster(f"{folder}/cluster", os.path.join(here, "../scripts/slurm-here.sh"))
        try:
            good = [share(arguments.fathom, project)]
            if arguments.jobs:
                good.append(survives(arguments.fathom, cluster, project, arguments.jobs, random.Random(arguments.seed)))
            if arguments.suites:
                good.append(against_itself(arguments.fathom, project, arguments.suites))
        finally:
            cluster.down()
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
