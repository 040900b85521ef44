// A server that looks up all names of each request's headers, and a client on the loopback interface that
// sends the next request as soon as it has the response, in one process.
"use strict";

const http = require("node:http");
const net = require("node:net");
const { raw } = require("./headers.cjs");

const REQUESTS = 10_000;
const WARM_UP = 2_000;

const lines = [];
for (let i = 0; i < raw.length; i += 2) {
  const name = raw[i].toString("latin1");
  // A request with a length would need a body.
  if (name !== "Content-Length") lines.push(`${name}: ${raw[i + 1].toString("latin1")}`);
}
const request = `GET / HTTP/1.1\r\nHost: localhost\r\n${lines.join("\r\n")}\r\n\r\n`;

// Calls `lookUp` once for each request with the names as bytes; prints the CPU time of the process per request,
// and the median time of the lookups in it.
function measure(lookUp) {
  const spent = [];
  const server = http.createServer((incoming, response) => {
    const start = process.hrtime.bigint();
    lookUp(raw);
    spent.push(Number(process.hrtime.bigint() - start) / 1e3);
    response.end("ok");
  });
  server.listen(0, "127.0.0.1", () => {
    const client = net.connect(server.address().port, "127.0.0.1");
    let left = REQUESTS + WARM_UP;
    let cpuStart;
    client.on("data", () => {
      if (--left === REQUESTS) {
        cpuStart = process.cpuUsage();
        spent.length = 0;
      }
      if (left > 0) return client.write(request);
      const cpu = process.cpuUsage(cpuStart);
      report((cpu.user + cpu.system) / REQUESTS, median(spent));
      client.end();
      server.close();
      server.closeAllConnections?.();
    });
    client.write(request);
  });
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function report(request, looking) {
  console.log(`request: ${request.toFixed(2)} us\nlooking: ${looking.toFixed(3)} us`);
}

module.exports = { measure };
