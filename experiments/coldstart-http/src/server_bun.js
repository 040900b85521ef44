// The server of Bun. Usage: bun server_bun.js PORT
"use strict";

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch: () => new Response('{"ok":true}', { headers: { "Content-Type": "application/json" } }),
});
