#!/usr/bin/env python3
"""Record the traces that the tests of the findings diagnose.

Runs `fathom why` on each slow program and its twin, keeps the timings and the trace
(`--save-observation`), trims them, and writes one file per trace into crates/diagnose/tests/recorded/.
A run with unexpected findings is repeated, up to --tries times; the last one is kept.

Records the kernel tier for every pair, and for every third id in sorted order also `unprivileged` (the tier
of a user without capabilities), `ptrace` and `sample`. Needs root, setpriv, and the release build.
"""

import argparse
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import build
import why

ROOT = build.HERE.parent
RECORDED = ROOT / "crates/diagnose/tests/recorded"
UNPRIVILEGED = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
# The kinds of traces: (words before the command, options of `fathom why`).
KINDS = {
    "kernel": ([], ["--tier", "kernel"]),
    "unprivileged": (UNPRIVILEGED, []),
    "ptrace": (UNPRIVILEGED, ["--tier", "ptrace"]),
    "sample": (UNPRIVILEGED, ["--tier", "sample"]),
}


def name_of(entry, side, kind):
    return f"{entry['id'].replace('/', '.')}.{side}.{kind}.json.gz"


def without_places(text, directory):
    """Replaces the paths of this machine."""
    for path, stand_in in ((str(directory), "/corpus"), (str(ROOT), "/fathom"), (str(pathlib.Path.home()), "/home/user")):
        text = text.replace(path, stand_in)
    return text


def record(entry, side, kind, options, raw):
    """Keeps one observation; returns whether its findings were the expected ones."""
    before, extra = KINDS[kind]
    options.command = [*before, options.fathom]
    for _ in range(options.tries):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder, "observation.json")
            found, _ = why.why(entry[side], options, pathlib.Path(folder), [*extra, "--save-observation", str(kept)])
            text = kept.read_text()
        right, _ = why.judge(entry, side, found)
        if right:
            break
    with gzip.open(raw / name_of(entry, side, kind), "wt") as file:
        file.write(without_places(text, options.directory))
    return right, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="the corpus's build directory; built first; the untrimmed traces go to DIR/observed")
    parser.add_argument("--fathom", default=str(ROOT / "target/release/fathom"), metavar="FILE")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose id contains TEXT")
    parser.add_argument("--kinds", default=",".join(KINDS), metavar="KIND,...", help=f"default: {','.join(KINDS)}")
    parser.add_argument("--tries", type=int, default=3, metavar="N", help="default 3")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="timed runs, default 3")
    parser.add_argument("--missing", action="store_true", help="record only the traces that are missing in DIR/observed")
    parser.add_argument("--trim", action="store_true", help="record nothing; trim the traces in DIR/observed")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))
    os.environ.pop("PYTHONUNBUFFERED", None)
    options.directory = pathlib.Path(options.directory).resolve()
    options.tier = None
    raw = options.directory / "observed"
    raw.mkdir(parents=True, exist_ok=True)
    failed = 0 if options.trim else record_all(options, raw)
    trim(raw, options.only, "release" in pathlib.Path(options.fathom).parts)
    sys.exit(1 if failed else 0)


def record_all(options, raw):
    plan, failures = build.build_all(options.directory, options.only)
    for name, error in failures:
        print(f"failed   {name}: {error}")
    failed = len(failures)
    plan.sort(key=lambda entry: entry["id"])
    for kind in options.kinds.split(","):
        chosen = plan if kind == "kernel" else plan[::3]
        for entry in chosen:
            if entry["missing"]:
                print(f"{entry['id']}: not recorded, missing {', '.join(entry['missing'])}")
                continue
            for side in build.sides(entry):
                if options.missing and (raw / name_of(entry, side, kind)).exists():
                    continue
                try:
                    right, found = record(entry, side, kind, options, raw)
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                    print(f"{entry['id']} {side} {kind}: FAILED {error}", flush=True)
                    failed += 1
                    continue
                mark = "" if right else "   UNEXPECTED"
                print(f"{entry['id']} {side} {kind}: {', '.join(name for name, _ in found) or 'nothing'}{mark}", flush=True)
    return failed


def trim(raw, only, release):
    """Removes the rows that no mechanism needs; the crate of the mechanisms knows which. With --only, replaces only
    the traces of these programs."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["cargo", "run", *(["--release"] if release else []), "-q", "-p", "fathom-diagnose", "--example", "trim", "--", str(raw), folder],
            check=True, cwd=ROOT)
        for old in RECORDED.iterdir():
            if only in old.name.replace(".", "/", 1):
                old.unlink()
        for new in pathlib.Path(folder).iterdir():
            if only in new.name.replace(".", "/", 1):
                shutil.copy(new, RECORDED)



if __name__ == "__main__":
    main()
