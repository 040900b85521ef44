"""Check the exact claims of the catalogue: plans, arithmetic, sizes and counts. Nothing is timed.

    python3 experiments/check.py --fathom target/debug/fathom
    python3 experiments/check.py --only head-start evm

Reads and plans every file. Then runs the claims that don't depend on the machine's speed: arithmetic of
published figures, sizes of files, counts of a pattern or of read and write calls. The page next to the
file has the verdict of each claim; a different verdict is a problem. If the page has none, the claim must
hold. A claim is skipped if a tool is missing, or if its verdict differs and a tool has another version
than the one the page was made with. Exit code 0: all verdicts match the pages; 1: there are problems.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Metrics that don't depend on the machine's speed.
EXACT = r"\b(?:count|size|calls_read|calls_write|read_calls|write_calls)(?:\.[\w.*-]+|: [\w, .-]+)"
MISSING = "not runnable here"
UNDECIDED = "undecided"
# Longer than the builds of any experiment take on a busy machine.
LIMIT_SECONDS = 300


def is_exact(claim):
    """Returns whether the claim depends only on published or counted numbers."""
    formula = claim.get("holds")
    if formula is None:
        return False
    if claim["layer"] == "arithmetic":
        return True
    rest, found = re.subn(EXACT, "", re.sub(r"\[[^]]*\]|[\w-]+\.(?=calls_(?:read|write)\b)", "", formula))
    # The rest may contain numbers, but not another metric or a finding.
    return found > 0 and not re.search(r"[a-z_]\w*\.|(?!order)\b[a-z]\w*\(", rest)


def fathom(program, *words):
    """Runs Fathom; returns (exit code, standard output, the last lines of standard error)."""
    done = subprocess.run([program, "run", *words], cwd=HERE.parent, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)
    return done.returncode, done.stdout, done.stderr.strip()[-500:]


def page_of(folder):
    """Returns the verdicts of a page by the texts of the claims, and its tables with the versions of the tools."""
    text = (HERE / folder / "README.md").read_text(encoding="utf-8")
    figures = text.partition("<!-- figures: begin")[2].partition("<!-- figures: end")[0]
    verdicts = {}
    for line in figures.splitlines():
        cells = [html.unescape(cell) for cell in line.strip("| ").split(" | ")]
        if len(cells) == 5 and "**" in cells[4]:
            verdicts[plain(cells[0])] = cells[4].split("**")[1]
    tables = HERE / folder / "figures.md"
    return verdicts, plain(html.unescape(tables.read_text(encoding="utf-8"))) if tables.exists() else ""


def plain(text):
    """Returns the text without code marks: the page writes names as code, the file doesn't."""
    return text.replace("`", "").replace("<!-- -->", "")


def changed_tools(record, tables):
    """Returns the tools of this run whose versions differ from those on the page."""
    versions = [(tool["name"], tool["version"]) for tool in record["tools"] if tool.get("version")]
    return [f"{name} is {version}" for name, version in versions if plain(f"{name}: {version}") not in tables]


def check(folder, program):
    """Yields (kind, sentence) for each exact claim: `held`, `skipped` or `problem`."""
    experiment = tomllib.loads((HERE / folder / "experiment.toml").read_text(encoding="utf-8"))
    exact = {claim["id"] for claim in experiment.get("claims", []) if is_exact(claim)}
    if not exact:
        return
    with tempfile.TemporaryDirectory(prefix="fathom-check.") as work:
        chosen = [word for claim in sorted(exact) for word in ("--only", claim)]
        code, output, errors = fathom(program, f"experiments/{folder}", *chosen, "--work", work, "--json", "-")
    if code != 0:
        yield "problem", f"{folder}: fathom run exits with {code}: {errors}"
        return
    record = json.loads(output)
    verdicts, tables = page_of(folder)
    changed = changed_tools(record, tables)
    judged = {claim["id"]: claim for claim in record["claims"]}
    for name in sorted(exact):
        claim = judged.get(name)
        where = f"{folder}: {name}"
        text = claim and plain(claim["text"])
        if text not in verdicts:
            yield "problem", f"{where}: is not in {'the record' if claim is None else 'the page'}"
            continue
        found = claim["judged"]["verdict"].replace("_", " ").replace("ill posed", "ill-posed")
        wanted = verdicts[text]
        if wanted in (MISSING, UNDECIDED):
            wanted = "reproduced"
        if found == wanted:
            yield "held", where
        elif found == MISSING and " is missing " in claim["judged"]["reason"]:
            yield "skipped", f"{where}: {claim['judged']['reason']}"
        elif changed and claim["layer"] != "arithmetic":
            yield "skipped", f"{where}: {found}, not {wanted}; {', '.join(changed)}"
        else:
            yield "problem", f"{where}: {found}, not {wanted}: {claim['judged']['reason']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fathom", default="fathom", metavar="FILE", help="default: the one in PATH")
    parser.add_argument("--only", nargs="+", metavar="FOLDER", help="only these folders")
    options = parser.parse_args()
    program = str(Path(options.fathom).resolve()) if "/" in options.fathom else options.fathom
    folders = options.only or sorted(path.parent.name for path in HERE.glob("*/experiment.toml"))
    code, _, errors = fathom(program, *(f"experiments/{folder}" for folder in folders), "--plan")
    if code != 0:
        sys.exit(f"problem: the plans can't be made: {errors}")
    counts = {"held": 0, "skipped": 0, "problem": 0}
    for folder in folders:
        for kind, sentence in check(folder, program):
            counts[kind] += 1
            if kind != "held":
                print(f"{kind}: {sentence}", flush=True)
    print(f"{len(folders)} experiments planned; of their exact claims "
          f"{counts['held']} match their pages, {counts['skipped']} skipped, {counts['problem']} problems")
    if counts["held"] == 0 and not options.only:
        sys.exit("problem: no claim was checked")
    sys.exit(1 if counts["problem"] else 0)


if __name__ == "__main__":
    main()
