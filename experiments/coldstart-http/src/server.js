// The server of Node's library. Usage: node server.js PORT
"use strict";

const http = require("node:http");

http
  .createServer((request, response) => {
    response.setHeader("Content-Type", "application/json");
    response.end('{"ok":true}');
  })
  .listen(Number(process.argv[2]), "127.0.0.1");
