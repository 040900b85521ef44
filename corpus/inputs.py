"""Makes deterministic inputs: the same spec gives the same bytes on every machine."""

import json
import random

# Letters only, so that no generated word needs quoting in any of the languages.
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def vocabulary(rng, count=2000):
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 10))) for _ in range(count)]


def text(spec, rng):
    """`bytes` of words in lines of about 70 characters."""
    words = vocabulary(rng)
    lines, size = [], 0
    while size < spec["bytes"]:
        line = " ".join(rng.choices(words, k=11))
        lines.append(line)
        size += len(line) + 1
    return ("\n".join(lines) + "\n").encode()[: spec["bytes"] - 1] + b"\n"


def numbers(spec, rng):
    """`lines` integers between 0 and 999999, one per line."""
    return "".join(f"{rng.randrange(1000000)}\n" for _ in range(spec["lines"])).encode()


def pairs(spec, rng):
    """`lines` lines `keyNNNNNN=value`, keys in order."""
    return "".join(f"key{i:06d}={rng.randrange(10**9)}\n" for i in range(spec["lines"])).encode()


def table(spec, rng):
    """A JSON object of `rows` numbers, keys in order."""
    return json.dumps({f"key{i}": rng.randrange(10**9) for i in range(spec["rows"])}).encode()


def blob(spec, rng):
    """`bytes` random bytes."""
    return rng.randbytes(spec["bytes"])


def tree(path, spec, rng):
    """A folder of `files` files of `bytes` bytes each, in 20 folders."""
    path.mkdir(parents=True)
    for i in range(20):
        (path / f"d{i:02d}").mkdir()
    for i in range(spec["files"]):
        (path / f"d{i % 20:02d}" / f"f{i:05d}").write_bytes(rng.randbytes(spec["bytes"]))


def folders(path, spec, _rng):
    """`count` folders; the last holds 20 small files named item00 to item19."""
    path.mkdir(parents=True)
    for i in range(spec["count"]):
        (path / f"p{i:03d}").mkdir()
    for i in range(20):
        (path / f"p{spec['count'] - 1:03d}" / f"item{i:02d}").write_text("42\n")


FILES = {"text": text, "numbers": numbers, "pairs": pairs, "table": table, "blob": blob}
FOLDERS = {"tree": tree, "folders": folders}


def generate(path, spec):
    """Makes the input at `path`. The file gets its final name once it is complete."""
    rng = random.Random(spec["seed"])
    partial = path.with_name(path.name + ".partial")
    name = spec["generator"]
    if name in FOLDERS:
        FOLDERS[name](partial, spec, rng)
    else:
        partial.write_bytes(FILES[name](spec, rng))
    partial.rename(path)
