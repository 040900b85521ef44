import os
import socket

here, there = socket.socketpair()
if os.fork() == 0:
    here.close()
    while len(number := there.recv(8)) == 8:
        there.sendall((int.from_bytes(number, "little") * 3 % 1_000_003).to_bytes(8, "little"))
    os._exit(0)
there.close()
value = 1
for _ in range(15_000):
    here.sendall(value.to_bytes(8, "little"))
    value = int.from_bytes(here.recv(8), "little") + 1
here.close()
os.wait()
print(value)
