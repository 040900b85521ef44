"""Start a server, let two clients play ping-pong through it, and print the rate and the CPU time of both sides.

    python3 rally.py [--crowded] ROUND_TRIPS SERVER COMPRESSION -- CLIENT...

SERVER and CLIENT are commands; the server gets a port and COMPRESSION (deflate or plain), the
client a URL, ROUND_TRIPS and COMPRESSION. With --crowded a program that only computes runs for
each CPU meanwhile.
"""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(port, server):
    """Waits until the server accepts connections; it may take seconds to load."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None:
                sys.exit(f"the server ended with {server.returncode}")
            time.sleep(0.02)
    sys.exit("the server did not listen within 30 s")


def cpu_seconds(pid):
    """Returns the user and system time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    words = sys.argv[1:]
    crowded = words[0] == "--crowded"
    round_trips, server_command, compression = words[crowded : crowded + 3]
    round_trips = int(round_trips)
    client_command = words[words.index("--") + 1 :]
    others = []
    port = free_port()
    server = subprocess.Popen([*shlex.split(server_command), str(port), compression])
    try:
        wait_for(port, server)
        if crowded:
            computes = [sys.executable, "-c", "while True: pass"]
            others = [subprocess.Popen(computes) for _ in os.sched_getaffinity(0)]
        before = cpu_seconds(server.pid)
        subprocess.run(
            [*client_command, f"ws://127.0.0.1:{port}/", str(round_trips), compression],
            check=True,
            timeout=120,
        )
        used = cpu_seconds(server.pid) - before
        print(f"server CPU {used / round_trips * 1e6:.0f} us a round trip")
    finally:
        for process in [server, *others]:
            process.send_signal(signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    main()
