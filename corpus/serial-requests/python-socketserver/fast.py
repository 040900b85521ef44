"""Serves eight clients with a thread each: each request waits 20 ms for a database."""
import socketserver
import threading
import time
import socket


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        time.sleep(0.02)
        self.wfile.write(b"row\n")


class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 64


def client(address):
    for _ in range(6):
        with socket.create_connection(address) as connection:
            connection.sendall(b"get\n")
            while connection.recv(100):
                pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
clients = [threading.Thread(target=client, args=(server.server_address,)) for _ in range(8)]
for each in clients:
    each.start()
for each in clients:
    each.join()
print("served")
