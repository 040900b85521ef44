// An HTTP server that says hello, for Bun: its engine comes with it in one file, as zigttp's does.
"use strict";

Bun.serve({ hostname: "127.0.0.1", port: 8080, fetch: () => new Response("hello\n") });
