"""A client takes lines from a server of the same program, a byte a call."""
import os
import socket

listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    peer, _ = listener.accept()
    lines = [b"VALUE key%d %d\r\n" % (i, i * 7 % 1000) for i in range(30000)]
    peer.sendall(b"".join(lines) + b"END\r\n")
    peer.close()
    os._exit(0)
client = socket.create_connection(listener.getsockname())


def next_line():
    line = bytearray()
    while not line.endswith(b"\r\n"):
        line += client.recv(1)
    return bytes(line)


total = 0
while (line := next_line()) != b"END\r\n":
    total += int(line.split()[2])
print(total)
client.close()
os.wait()
