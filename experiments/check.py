"""Hold the catalogue to its list: every id of rows.txt has a folder, and no folder has another id.

    python3 experiments/check.py

Also checks that each folder has a README.md and that the index names the folder. Exit code 0: all
there; 1: something is missing, and what.
"""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def wanted_rows():
    lines = (HERE / "rows.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def folders():
    """Ids by folder, of every folder that has an experiment."""
    found = {}
    for path in sorted(HERE.glob("*/experiment.toml")):
        experiment = tomllib.loads(path.read_text(encoding="utf-8"))
        found[path.parent.name] = experiment.get("source", {}).get("rows", [])
    return found


def belongs(row, entry):
    """Whether an id is this entry of the list, or of the set that the entry stands for."""
    if not entry.endswith("-*"):
        return row == entry
    return row.startswith(entry[:-1]) or row == entry[:-2]


def problems():
    wanted, found = wanted_rows(), folders()
    covered = [row for rows in found.values() for row in rows]
    for entry in wanted:
        if not any(belongs(row, entry) for row in covered):
            yield f"{entry}: no folder has it"
    index = (HERE / "README.md").read_text(encoding="utf-8")
    for folder, rows in found.items():
        for row in rows:
            if not any(belongs(row, entry) for entry in wanted):
                yield f"{folder}: {row} is not in rows.txt"
        if not (HERE / folder / "README.md").is_file():
            yield f"{folder}: has no README.md"
        if f"]({folder}/" not in index:
            yield f"{folder}: is not in the index, README.md"


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    print(f"{len(wanted_rows())} rows, {len(folders())} folders, {len(found)} problems")
    return 1 if found else 0


sys.exit(main())
