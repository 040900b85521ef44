"""Send 20 messages as header and body, each by its own send, and await a reply."""

import hashlib
import os
import socket


def receive(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            return b""
        data += piece
    return data


def serve(listener):
    connection, _ = listener.accept()
    while header := receive(connection, 4):
        body = receive(connection, int.from_bytes(header, "big"))
        connection.sendall(hashlib.sha256(body).digest())


def work(value):
    for _ in range(4000):
        value = hashlib.sha256(value).digest()
    return value


listener = socket.create_server(("127.0.0.1", 0))
server = os.fork()
if server == 0:
    serve(listener)
    os._exit(0)
client = socket.create_connection(listener.getsockname())
body = b"x" * 100
for _ in range(20):
    client.sendall(len(body).to_bytes(4, "big"))
    client.sendall(body)
    body = work(receive(client, 32))
client.shutdown(socket.SHUT_WR)
os.waitpid(server, 0)
print(body.hex())
