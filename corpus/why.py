#!/usr/bin/env python3
"""Run `fathom why` on each slow program and its twin, and judge its findings.

The first finding on `slow` must be the cause; `fast` must have no finding. For a program with two causes, the
findings must be exactly these two, the larger one first, and the variants with one cause must have exactly that
finding. A program that fails is run again, up to --tries times, because a busy machine can hide the cause.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

import build

LIMIT_SECONDS = 120

# A predicted saving is right if it differs from the twin's saving by at most this share of it.
NEAR = 0.25

# If the twin's own code takes longer by more than this factor, the twin does other work.
MORE_WORK = 1.25


class Partner:
    """Keeps a FIFO; each time a process opens it, starts a new process of `argv` at the other end."""

    def __init__(self, argv, fifo, writes):
        self.argv, self.fifo, self.writes, self.ended = argv, fifo, writes, False
        os.mkfifo(fifo)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while not self.ended:
            end = os.open(self.fifo, os.O_WRONLY if self.writes else os.O_RDONLY)
            # The next process to open it gets a new pipe; otherwise this one would never see its end.
            fresh = self.fifo.with_name("fresh")
            os.mkfifo(fresh)
            os.rename(fresh, self.fifo)
            if not self.ended:
                streams = {"stdin": subprocess.DEVNULL, "stdout": end} if self.writes else {"stdin": end}
                subprocess.Popen(self.argv, stderr=subprocess.DEVNULL, **streams)
            os.close(end)

    def end(self):
        self.ended = True
        os.close(os.open(self.fifo, os.O_RDWR))  # wakes the server
        self.thread.join()


def stdin_of(side, folder):
    """Returns (options, the partner at the other end)."""
    spec = side["stdin"]
    if spec["kind"] == "file":
        return ["--input", spec["path"]], None
    if spec["kind"] == "feed":
        return ["--input", str(folder / "stdin")], Partner(spec["argv"], folder / "stdin", writes=True)
    return [], None


def stdout_of(side, folder):
    spec = side["stdout"]
    if spec["kind"] == "file":
        return ["--output", spec["path"]], None
    if spec["kind"] == "pipe" and len(spec["argv"]) > 2:  # a slow reader, not one that only drains
        return ["--output", str(folder / "stdout")], Partner(spec["argv"], folder / "stdout", writes=False)
    return (["--output", "pipe"], None) if spec["kind"] == "pipe" else ([], None)


def why(side, options, folder, extra=()):
    """Returns (the findings as (id, share) in order, the whole explanation). Raises RuntimeError on failure.

    `extra`: more options of `fathom why`.
    """
    words = [*options.command, "why", *extra, "--runs", str(options.runs), "--json", "-", "--timeout", "60s", "--cwd", side["cwd"]]
    words += ["--tier", options.tier] if options.tier else []
    if side["env"]:
        words += ["--env", " ".join(f"{name}={shlex.quote(str(value))}" for name, value in side["env"].items())]
    if side["prepare"]:
        words += ["--prepare", " && ".join(shlex.join(argv) for argv in side["prepare"])]
    ends = [stdin_of(side, folder), stdout_of(side, folder)]
    for more, _ in ends:
        words += more
    try:
        done = subprocess.run([*words, "--", *side["argv"]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS)
    finally:
        for _, other in ends:
            if other:
                other.end()
    if done.returncode != 0:
        raise RuntimeError(f"fathom exited with {done.returncode}: {done.stderr.strip()[-300:]}")
    document = json.loads(done.stdout)
    return [(finding["id"], finding["share"]) for finding in document["findings"]], document


def expected(entry, side):
    """Returns the accepted ids for each cause of this variant."""
    if "causes" not in entry:
        return [[entry["finding"], *entry.get("accept", [])]] if side == "slow" else []
    return [[cause] for name, cause in zip(("FIRST", "SECOND"), entry["causes"]) if name in build.CAUSES[side]]


def judge(entry, side, found):
    """Returns (right, rank of the expected finding or 0)."""
    causes = expected(entry, side)
    ids = [name for name, _ in found]
    if not causes:
        return not ids, 0
    ranks = [next((place for place, name in enumerate(ids, 1) if name in cause), 0) for cause in causes]
    if len(causes) > 1:
        return sorted(ranks) == list(range(1, len(ids) + 1)), min(ranks)
    return ranks == [1] or (entry.get("optional", False) and not ids), ranks[0]


def try_out(entry, side, options):
    """Runs until the findings are right, at most `tries` times. Returns (right, rank, findings, document)."""
    extra = ["--prove=all", "--time", options.prove] if options.prove and side == "slow" else []
    for _ in range(options.tries):
        with tempfile.TemporaryDirectory() as folder:
            found, document = why(entry[side], options, pathlib.Path(folder), extra)
        right, rank = judge(entry, side, found)
        if right:
            break
    return right, rank, found, document


def own_code(document):
    """Returns the wall time spent in the program's own code, in seconds."""
    return sum(part["ns"] for part in document["account"]["parts"] if part["category"] == "user_code") / 1e9


def gain(finding, slow, fast):
    """Returns (the predicted saving of the finding, the time that the twin takes less), as shares of the slow
    program's time. None if the saving is a latency, or if the twin takes longer because of other work."""
    if finding["latency_saving_ns"] or own_code(fast) > MORE_WORK * own_code(slow) + 0.005:
        return None
    clock, saved = ("cpu", finding["cpu_saving_ns"]) if finding["cpu_saving_ns"] else ("wall", finding["saving_ns"])
    before, after = slow["timed"][clock]["value"], fast["timed"][clock]["value"]
    return saved / 1e9 / before, 1 - after / before


def without(entry, finding, documents):
    """Returns the document of the variant that lacks only the cause of this finding."""
    if "causes" not in entry:
        return documents["fast"]
    return documents["second" if finding["id"] == entry["causes"][0] else "first"]


def gains(entry, documents):
    """Returns the gain of each cause of the slow program, from the variant without that cause, in the order of the
    findings."""
    slow = documents["slow"]
    findings = slow["findings"][:2 if "causes" in entry else 1]
    pairs = [gain(finding, slow, without(entry, finding, documents)) for finding in findings]
    return [pair for pair in pairs if pair]


def two_are_told(pairs, slow):
    """Returns the problems with the gains of two causes; empty if there are none."""
    wrong = [] if all(is_near(*pair) for pair in pairs) else ["FAR"]
    # Causes with similar savings may come in any order.
    if len(pairs) == 2 and pairs[0][1] < (1 - NEAR) * pairs[1][1]:
        wrong.append("DISORDER")
    if sum(finding["saving_ns"] for finding in slow["findings"]) > 1e9 * slow["timed"]["wall"]["value"]:
        wrong.append("TOO MUCH")
    return wrong


def is_near(predicted, real):
    return abs(predicted - real) <= NEAR * abs(real)


def proved(entry, documents):
    """Returns the proof of the cause: (verdict, whether by a slope, saved in the trial, gain). Savings are shares of
    the slow program's time, None if unknown. Returns None if the cause was not found."""
    slow, cause = documents["slow"], expected(entry, "slow")[0]
    finding = next((one for one in slow["findings"] if one["id"] in cause), None)
    proof = finding and finding.get("proof")
    if not proof:
        return None
    tried = proof["saves_ms"]["value"] / proof["with_ms"] if proof.get("saves_ms") else None
    return proof["verdict"], "slope" in proof, tried, gain(finding, slow, without(entry, finding, documents))


def say_what_was_proved(proofs):
    """Prints one line per question, with cells separated by `; `."""
    total = len(proofs)
    known = [proof for proof in proofs if proof]
    taken = [proof for proof in known if proof[0] == "proved" and not proof[1]]
    both = [proof for proof in known if proof[0] == "proved"]
    refuted = [proof for proof in known if proof[0] == "refuted"]
    pairs = [(tried, real[1]) for _, _, tried, real in taken if tried is not None and real]
    near = sum(is_near(*pair) for pair in pairs)

    def line(question, count, of, asked, reached):
        print(f"prove: {question}; {count} of {of}; {asked}; {'reached' if reached else 'not reached'}")

    line("proved by an intervention", len(taken), total, "35 %", total and len(taken) >= 0.35 * total)
    line("proved by that or by a slope", len(both), total, "70 %", total and len(both) >= 0.7 * total)
    line(f"saved as the twin does, within {NEAR:.0%}", near, len(pairs), "9 of 10", pairs and near >= 0.9 * len(pairs))
    line("the cause refuted", len(refuted), total, "none", not refuted)


def say_by_kind(proofs):
    """One line for each finding; `proofs`: pairs of a finding and what came of trying it."""
    def median(values):
        known = [value for value in values if value is not None]
        return f"{statistics.median(known):.0%}" if known else "-"

    for kind in sorted({kind for kind, _ in proofs}):
        programs = [proof for name, proof in proofs if name == kind]
        tried = [proof for proof in programs if proof]
        counts = [sum(proof[:2] == sort for proof in tried) for sort in (("proved", False), ("proved", True))]
        refuted = sum(proof[0] == "refuted" for proof in tried)
        compared = [(proof[2], *proof[3]) for proof in tried if proof[0] == "proved" and proof[3]]
        saved = "; ".join(median([row[at] for row in compared]) for at in (1, 0, 2))
        print(f"kind: {kind}; {len(programs)}; {counts[0]}; {counts[1]}; {refuted}; {saved}")


def listed(found):
    return ", ".join(f"{name} {share:.0%}" for name, share in found) or "nothing"


def chosen(plan, options):
    ready = [entry for entry in plan if not entry["missing"]]
    first, _, step = options.part.partition("/")
    return ready[int(first) - 1::int(step or 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="the build directory; built first")
    parser.add_argument("--fathom", default=shutil.which("fathom") or "fathom", metavar="FILE", help="default: the one in PATH")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose id contains TEXT")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="only every M-th program, starting with the N-th")
    parser.add_argument("--tier", choices=["kernel", "perf", "sample", "ptrace"], help="default: the best allowed tier")
    parser.add_argument("--tries", type=int, default=2, metavar="N", help="default 2")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="timed runs, default 3")
    parser.add_argument("--prove", metavar="TIME", help="also try the findings on slow, for this time (such as 20s)")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE")
    parser.add_argument("--keep", metavar="DIR", help="write each whole explanation into DIR")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
    os.environ.pop("PYTHONUNBUFFERED", None)
    options.command = [options.fathom]
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    plan, failures = build.build_all(options.directory, options.only)
    for name, error in failures:
        print(f"failed   {name}: {error}")
    counts = {"first": 0, "missed": 0, "clean": 0, "alarms": 0, "failed": len(failures)}
    results, all_gains, two, proofs = {}, [], [], []
    print(f"{'program':40} {'expected first':22} {'rank':4}  found on slow; on the twin")
    for entry in chosen(plan, options):
        try:
            tried = {side: try_out(entry, side, options) for side in build.sides(entry)}
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            print(f"{entry['id']:40} FAILED {error}", flush=True)
            counts["failed"] += 1
            continue
        documents = {side: document for side, (_, _, _, document) in tried.items()}
        _, rank, slow, _ = tried["slow"]
        slow_right = all(right for side, (right, *_) in tried.items() if side != "fast")
        fast_right = tried["fast"][0]
        counts["first" if slow_right else "missed"] += 1
        counts["clean" if fast_right else "alarms"] += 1
        saved = gains(entry, documents) if rank == 1 else []
        wrong = two_are_told(saved, documents["slow"]) if "causes" in entry else []
        if "causes" in entry:
            two.append(slow_right and not wrong)
        else:
            all_gains += saved
        proof = proved(entry, documents) if options.prove else None
        proofs.append((entry.get("finding", "both"), proof))
        words = f"; {proof[0]}{' by a slope' * proof[1]}" if proof else ""
        words += "".join(f"; predicted to save {told:.0%}, the twin takes {real:.0%} less" for told, real in saved)
        marks = ([] if slow_right else ["MISSED"]) + ([] if fast_right else ["ALARM"]) + wrong
        name = entry["finding"] if "finding" in entry else "both"
        found = "; ".join(listed(found) for _, _, found, _ in tried.values())
        print(f"{entry['id']:40} {name:22} {rank or '-':>4}  {found}{words}{''.join(f'  {mark}' for mark in marks)}", flush=True)
        results[entry["id"]] = {"finding": name, "rank": rank, "slow": slow, "fast": tried["fast"][2], "gains": saved, "proof": proof}
        if options.keep:
            for side, document in documents.items():
                pathlib.Path(options.keep, entry["id"].replace("/", "_") + f".{side}.json").write_text(json.dumps(document))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print("named first {first}, missed {missed}; twins clean {clean}, false alarms {alarms}; failed {failed}".format(**counts))
    near = sum(is_near(*saved) for saved in all_gains)
    print(f"gains within {NEAR:.0%} of the twin's: {near} of {len(all_gains)}")
    if options.prove:
        say_what_was_proved([proof for _, proof in proofs])
        say_by_kind(proofs)
    if two:
        print(f"of two causes both found, in order, each gain within {NEAR:.0%}: {sum(two)} of {len(two)}")
    sys.exit(1 if counts["missed"] or counts["alarms"] or counts["failed"] else 0)


if __name__ == "__main__":
    main()
