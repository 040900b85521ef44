"""Write and compile small shared libraries: libraries.py FOLDER COUNT FUNCTIONS own|others.

Each library defines FUNCTIONS functions and a table of as many function pointers, to its
own functions or to those of the other libraries. The loader looks up each of them by name.
objects.txt and libraries.txt list the results, for gcc's @FILE.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

folder, whose = pathlib.Path(sys.argv[1]), sys.argv[4]
count, functions = int(sys.argv[2]), int(sys.argv[3])


def text(i):
    def target(k):
        return i if whose == "own" else (i * 7 + 13 * k) % count

    names = [f"library{target(k)}_function{k}" for k in range(functions)]
    lines = [f"unsigned {name}(unsigned);" for name in dict.fromkeys(names)]
    for k in range(functions):
        lines.append(f"unsigned library{i}_function{k}(unsigned value) {{ return value * {2 * k + 3}u + {i}u; }}")
    lines.append(f"unsigned (*const library{i}_table[])(unsigned) = {{ {', '.join(names)} }};")
    return "\n".join(lines) + "\n"


def compile_library(i):
    source, code = folder / f"library{i}.c", folder / f"library{i}.o"
    source.write_text(text(i))
    subprocess.run(["gcc", "-O1", "-fPIC", "-c", "-o", code, source], check=True)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", folder / f"liblibrary{i}.so", code], check=True)


folder.mkdir(exist_ok=True)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(compile_library, range(count)))
(folder / "objects.txt").write_text("".join(f"{folder}/library{i}.o\n" for i in range(count)))
(folder / "libraries.txt").write_text("".join(f"{folder}/liblibrary{i}.so\n" for i in range(count)))
