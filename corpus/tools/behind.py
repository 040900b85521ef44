"""Wait behind a named pipe for the program under test: behind.py FIFO feed FILE [BYTES [PAUSE]] | drain [BYTES [PAUSE]].

Makes the pipe and returns. A background process feeds or drains the pipe once its other end is opened, and ends after
30 seconds.
"""

import os
import pathlib
import runpy
import signal
import sys

fifo, kind, words = sys.argv[1], sys.argv[2], sys.argv[3:]
if os.path.lexists(fifo):
    os.unlink(fifo)
os.mkfifo(fifo)
if os.fork() != 0:
    os._exit(0)
os.setsid()
signal.alarm(30)
nothing = os.open(os.devnull, os.O_RDWR)
for stream in range(3):
    os.dup2(nothing, stream)
end = os.open(fifo, os.O_WRONLY if kind == "feed" else os.O_RDONLY)
os.dup2(end, 1 if kind == "feed" else 0)
os.close(end)
# Run it in this interpreter: the program under test would wait for the start of another one.
script = str(pathlib.Path(__file__).with_name(kind + ".py"))
sys.argv = [script, *words]
runpy.run_path(script, run_name="__main__")
