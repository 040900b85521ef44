"""Read standard input to its end: drain.py [BYTES_PER_READ [PAUSE_SECONDS]]."""

import os
import sys
import time

size = int(sys.argv[1]) if len(sys.argv) > 1 else 65536
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
while os.read(0, size):
    if pause:
        time.sleep(pause)
