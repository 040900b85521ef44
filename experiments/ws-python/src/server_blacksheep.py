"""Relay each message to the other clients, with BlackSheep on uvicorn.

    python3 server_blacksheep.py PORT [deflate|plain]
"""

import sys

import uvicorn
from blacksheep import Application, WebSocket, WebSocketDisconnectError, ws

clients = set()
app = Application()


@ws("/")
async def relay(socket: WebSocket):
    await socket.accept()
    clients.add(socket)
    try:
        while True:
            text = await socket.receive_text()
            for client in clients - {socket}:
                await client.send_text(text)
    except WebSocketDisconnectError:
        pass
    finally:
        clients.discard(socket)


deflate = sys.argv[2:] != ["plain"]
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", ws_per_message_deflate=deflate)
