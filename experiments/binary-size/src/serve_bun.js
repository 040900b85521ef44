// An HTTP server that answers hello, for Bun: one file with its engine, like zigttp.
"use strict";

Bun.serve({ hostname: "127.0.0.1", port: 8080, fetch: () => new Response("hello\n") });
