// Relay each message to the other clients, with the package ws. Its server declines compression
// unless `deflate` is given.
//
//     node server_node.js PORT [deflate|plain]
"use strict";

const { WebSocketServer, WebSocket } = require("ws");

const [port, compression = "plain"] = process.argv.slice(2);
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: Number(port),
  perMessageDeflate: compression === "deflate",
});

server.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => {
    for (const client of server.clients) {
      if (client !== socket && client.readyState === WebSocket.OPEN) {
        client.send(data, { binary: isBinary });
      }
    }
  });
});
