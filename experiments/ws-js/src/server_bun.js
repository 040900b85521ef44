// Relay each message to the other clients, with Bun's own server.
//
//     bun server_bun.js PORT
const clients = new Set();

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch(request, server) {
    return server.upgrade(request) ? undefined : new Response("a WebSocket is expected", { status: 400 });
  },
  websocket: {
    open: (socket) => clients.add(socket),
    close: (socket) => clients.delete(socket),
    message(socket, message) {
      for (const client of clients) {
        if (client !== socket) client.send(message);
      }
    },
  },
});
