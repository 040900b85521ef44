"""Write a Java file with 1500 small classes and a list of all: generate.py FOLDER."""

import pathlib
import sys

COUNT = 1500
folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
lines = ["interface Part {", "    int scale(int value);", "}", ""]
for i in range(COUNT):
    lines += [f"class Part{i} implements Part {{",
              f"    public int scale(int value) {{ return value * {2 * i + 3} + (value >>> {i % 31}); }}", "}", ""]
for start in range(0, COUNT, 500):
    lines += [f"class Parts{start // 500} {{", "    static void add(java.util.List<Part> all) {"]
    lines += [f"        all.add(new Part{i}());" for i in range(start, start + 500)]
    lines += ["    }", "}", ""]
(folder / "Parts.java").write_text("\n".join(lines))
