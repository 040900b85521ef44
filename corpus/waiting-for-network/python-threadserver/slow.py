import http.server
import threading
import time
import urllib.request


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.03)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"42")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
total = 0
for item in range(20):
    total += int(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{item}").read())
    total += sum(n % 7 for n in range(50_000))
print(total)
server.shutdown()
