#!/usr/bin/env python3
"""Build the corpus into a directory and write DIR/plan.json.

All other scripts read plan.json: absolute argument vectors, the input of each
run, the destination of its output. Programs with missing tools are listed with
these tools in `missing`, and are reported as 'not run'.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

import inputs

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = ("slow", "fast")

# A program with two causes also has variants with one of them. The causes are set in its environment.
CAUSES = {"slow": ("FIRST", "SECOND"), "fast": (), "first": ("FIRST",), "second": ("SECOND",)}
EXTENSION = {
    "c": "c", "rust": "rs", "go": "go", "python": "py",
    "node": "js", "java": "java", "shell": "sh", "cpp": "cpp", "perl": "pl",
}


def load_manifest(path=HERE / "corpus.toml"):
    with open(path, "rb") as handle:
        return tomllib.load(handle)


def setting(manifest, program, variant, key, default=None):
    """Returns the variant's setting, else the program's, else the language's."""
    for place in (program.get(variant, {}), program, manifest["language"][program["language"]]):
        if key in place:
            return place[key]
    return default


def sides(program):
    """Returns the variants of a program."""
    return tuple(CAUSES) if "causes" in program else VARIANTS


def expand(value, words):
    """Fills in the {placeholders} of a string, or of every string in nested lists."""
    if isinstance(value, list):
        return [expand(item, words) for item in value]
    for name, text in words.items():
        value = value.replace("{" + name + "}", str(text))
    return value


def find_tools(needs):
    """Splits the needed tools into found ones (name -> path) and missing ones."""
    found, missing = {}, []
    for name in needs:
        # The running interpreter, not the first `python3` in PATH: that may be a shell
        # script that starts Python, and its start would count as the program's.
        path = sys.executable if name == "python3" else shutil.which(name)
        if path:
            found[name] = path
        else:
            missing.append(name)
    return found, missing


def make_input(program, variant, manifest, root):
    spec = setting(manifest, program, variant, "input")
    if spec is None:
        return None
    name = "-".join(f"{key}_{spec[key]}" for key in sorted(spec)).replace("/", "_")
    path = root / "inputs" / name
    if not path.exists():
        inputs.generate(path, spec)
    return path


def stdin_of(manifest, program, variant, words):
    feed = setting(manifest, program, variant, "feed")
    if feed:
        return {"kind": "feed", "argv": expand(feed, words)}
    if "input" not in words or not setting(manifest, program, variant, "stdin", True):
        return {"kind": "null"}
    return {"kind": "file", "path": words["input"]}


def stdout_of(manifest, program, variant, words):
    kind = setting(manifest, program, variant, "stdout", "null")
    sink = {"kind": kind}
    if kind == "file":
        sink["path"] = str(pathlib.Path(words["scratch"]) / "stdout")
    if kind == "pipe":
        # With a reader that only drains it, the pipe is never the limit.
        drain = setting(manifest, program, variant, "drain", ["{python}", "{corpus}/tools/drain.py"])
        sink["argv"] = expand(drain, words)
    return sink


def fingerprint(commands, folder):
    digest = hashlib.sha256(json.dumps(commands).encode())
    # Tools of the corpus that a build command runs affect the result of the build.
    tools = [path for path in sorted((HERE / "tools").iterdir()) if any(str(path) in argv for argv in commands)]
    for path in [*sorted(folder.rglob("*")), *tools]:
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def run_build(commands, folder, out, variant):
    """Runs the build commands unless the same sources and commands were built before."""
    stamp = out / f".{variant}.stamp"
    want = fingerprint(commands, folder)
    if stamp.exists() and stamp.read_text() == want:
        return
    for argv in commands:
        done = subprocess.run(argv, cwd=out, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    stamp.write_text(want)


def source_of(folder, variant, extension):
    """Returns `slow.EXT` or `fast.EXT`, or `main.EXT` if both variants have the same source."""
    own = folder / f"{variant}.{extension}"
    return own if own.exists() else folder / f"main.{extension}"


def build_variant(manifest, program, variant, root):
    language = program["language"]
    folder = HERE / program["id"]
    out = root / "bin" / program["id"]
    scratch = root / "scratch" / program["id"] / variant
    for path in (out, scratch):
        path.mkdir(parents=True, exist_ok=True)
    words = {
        "python": sys.executable, "corpus": HERE, "here": folder, "variant": variant, "out": out,
        "scratch": scratch, "source": source_of(folder, variant, EXTENSION[language]),
    }
    source_input = make_input(program, variant, manifest, root)
    if source_input is not None:
        words["input"] = str(source_input)
    run_build(expand(setting(manifest, program, variant, "build", []), words), folder, out, variant)
    has = {name: "1" for name in CAUSES[variant]} if "causes" in program else {}
    return {
        "argv": expand(setting(manifest, program, variant, "run"), words),
        "cwd": str(scratch),
        "env": setting(manifest, program, variant, "env", {}) | has,
        "prepare": expand(setting(manifest, program, variant, "prepare", []), words),
        "stdin": stdin_of(manifest, program, variant, words),
        "stdout": stdout_of(manifest, program, variant, words),
    }


def build_program(manifest, program, root):
    language = manifest["language"][program["language"]]
    needs = language.get("needs", []) + program.get("needs", [])
    _, missing = find_tools(needs)
    keep = ("id", "finding", "causes", "accept", "optional", "language", "mechanism", "seconds", "explanation", "change", "note")
    entry = {key: program[key] for key in keep if key in program}
    entry["missing"] = missing
    if not missing:
        for variant in sides(program):
            entry[variant] = build_variant(manifest, program, variant, root)
    return entry


def build_all(root, only=""):
    """Builds all programs whose id contains `only`; returns (plan, failures)."""
    manifest = load_manifest()
    root = pathlib.Path(root).resolve()
    (root / "inputs").mkdir(parents=True, exist_ok=True)
    programs = [entry for entry in manifest["program"] if only in entry["id"]]
    # Make the inputs first, one by one, so two builds never write the same file.
    for program in programs:
        for variant in sides(program):
            make_input(program, variant, manifest, root)
    plan, failures = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(entry, pool.submit(build_program, manifest, entry, root)) for entry in programs]
        for program, job in jobs:
            try:
                plan.append(job.result())
            except (RuntimeError, OSError) as error:
                failures.append((program["id"], str(error)))
    document = {"schema_version": manifest["schema_version"], "programs": plan}
    (root / "plan.json").write_text(json.dumps(document, indent=1))
    return plan, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="where to build; created if missing")
    parser.add_argument("--only", default="", metavar="TEXT", help="only programs whose id contains TEXT")
    options = parser.parse_args()
    plan, failures = build_all(options.directory, options.only)
    ready = [entry for entry in plan if not entry["missing"]]
    for entry in plan:
        if entry["missing"]:
            print(f"not run  {entry['id']}: missing {', '.join(entry['missing'])}")
    for name, error in failures:
        print(f"failed   {name}: {error}")
    print(f"{len(ready)} programs built, {len(plan) - len(ready)} not run, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
