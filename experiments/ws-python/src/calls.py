"""Prints the socket calls of a server while two clients play ping-pong through it.

    python3 calls.py ROUND_TRIPS SERVER -- CLIENT...

Prints what strace saw of setsockopt, sendto and write. SERVER gets a port and `deflate`, CLIENT a
URL, ROUND_TRIPS and `deflate`.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile

from rally import free_port, wait_for


def main():
    words = sys.argv[1:]
    client_command = words[words.index("--") + 1 :]
    port = free_port()
    with tempfile.NamedTemporaryFile("r", encoding="latin-1") as seen:
        traced = ["strace", "-f", "-e", "trace=setsockopt,sendto,write", "-o", seen.name]
        command = [*traced, *shlex.split(words[1]), str(port), "deflate"]
        server = subprocess.Popen(command, start_new_session=True)
        try:
            wait_for(port, server)
            url = f"ws://127.0.0.1:{port}/"
            subprocess.run([*client_command, url, words[0], "deflate"], check=True, timeout=120, stdout=subprocess.DEVNULL)
        finally:
            # Ending only strace would leave the server running.
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        print(seen.read())


main()
