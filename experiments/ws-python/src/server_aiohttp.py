"""Relay each message to the other clients, with aiohttp.

    python3 server_aiohttp.py PORT [deflate|plain]
"""

import sys

from aiohttp import WSMsgType, web

clients = set()
compress = sys.argv[2:] != ["plain"]


async def relay(request):
    socket = web.WebSocketResponse(compress=compress)
    await socket.prepare(request)
    clients.add(socket)
    try:
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                for client in clients - {socket}:
                    await client.send_str(message.data)
    finally:
        clients.discard(socket)
    return socket


app = web.Application()
app.router.add_get("/", relay)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
