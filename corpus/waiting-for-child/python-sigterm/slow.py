"""A helper ignores SIGTERM: whoever stops it waits its grace period, and kills it."""
import subprocess
import sys

HELPER = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


def stop(helper, grace):
    helper.terminate()
    try:
        helper.wait(timeout=grace)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


helper = subprocess.Popen([sys.executable, "-c", HELPER], stdout=subprocess.PIPE)
helper.stdout.readline()
total = sum(i * i for i in range(500_000))
stop(helper, grace=1.0)
print(total)
