"""Reads records of 4 bytes from standard input; a server that takes 4 ms answers for each 3000th."""

import os
import socket
import sys
import time
import zlib


def serve(listener):
    connection, _ = listener.accept()
    with connection:
        while question := connection.recv(8):
            time.sleep(0.004)
            connection.sendall(question)


listener = socket.create_server(("127.0.0.1", 0))
server = os.fork()
if server == 0:
    serve(listener)
    os._exit(0)
client = socket.create_connection(listener.getsockname())
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
source = open(0, "rb", buffering=0 if "FIRST" in os.environ else 65536)
asks, at, answer = "SECOND" in os.environ, 0, b"seven"
total = 0
while record := source.read(4):
    if asks and at % 3000 == 0:
        client.sendall(answer)
        answer = client.recv(8)
    total = zlib.crc32(answer, zlib.crc32(record * 50, total))
    at += 1
client.close()
os.waitpid(server, 0)
print(total)
