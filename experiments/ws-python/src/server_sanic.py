"""Relay each message to the other clients, with Sanic. It has no compression to switch.

    python3 server_sanic.py PORT [deflate|plain]
"""

import sys

from sanic import Sanic

clients = set()
app = Sanic("relay", configure_logging=False)


@app.websocket("/")
async def relay(_request, socket):
    clients.add(socket)
    try:
        async for message in socket:
            for client in clients - {socket}:
                await client.send(message)
    finally:
        clients.discard(socket)


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), single_process=True, access_log=False, motd=False)
