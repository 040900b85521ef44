"""Put the files of a folder into one file: bundle.py FOLDER FILE."""

import pathlib
import sys

parts = (path.read_bytes() for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if path.is_file())
pathlib.Path(sys.argv[2]).write_bytes(b"".join(parts))
