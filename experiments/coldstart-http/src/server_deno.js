// The server of Deno. Usage: deno run --allow-net server_deno.js PORT
"use strict";

Deno.serve(
  { hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen: () => {} },
  () => new Response('{"ok":true}', { headers: { "Content-Type": "application/json" } }),
);
