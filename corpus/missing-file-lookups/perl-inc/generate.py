"""Write 400 small modules, and 250 folders without any: generate.py FOLDER."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
(folder / "plugins" / "Plugin").mkdir(parents=True, exist_ok=True)
for i in range(250):
    (folder / f"site{i:03d}" / "lib").mkdir(parents=True, exist_ok=True)
for i in range(400):
    (folder / "plugins" / "Plugin" / f"P{i:03d}.pm").write_text(
        f"package Plugin::P{i:03d};\nuse strict;\nuse warnings;\nsub scale {{ return $_[0] * {i + 3} }}\n1;\n")
