"""Write a file to standard output: feed.py FILE [BYTES_PER_WRITE [PAUSE_SECONDS]]."""

import os
import sys
import time

size = int(sys.argv[2]) if len(sys.argv) > 2 else 65536
pause = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
with open(sys.argv[1], "rb", buffering=0) as source:
    while chunk := source.read(size):
        try:
            while chunk:
                chunk = chunk[os.write(1, chunk):]
        except BrokenPipeError:
            sys.exit(0)
        if pause:
            time.sleep(pause)
