"""Sixty requests to a server that takes 10 ms for each, twenty at a time."""

import http.client
import http.server
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.01)
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


def fetch(port, number):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/item/{number}")
    body = connection.getresponse().read()
    connection.close()
    return len(body)


server = Server(("127.0.0.1", 0), Handler)
child = os.fork()
if child == 0:
    server.serve_forever()
server.socket.close()
with ThreadPoolExecutor(20) as pool:
    print(sum(pool.map(lambda number: fetch(server.server_address[1], number), range(60))))
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
