// Three calls of an API that takes 50 ms each, one after another or at once.
//
//     node calls.js sequential|parallel|limited CALLS
//
// `limited` has at most 8 calls in flight, like the published runtime. The API is a separate process on
// the loopback interface, `calls.js serve`, which ends at the end of its standard input. Prints the time
// of all calls and of the slowest one.
"use strict";

const { spawn } = require("node:child_process");
const http = require("node:http");

const DELAY_MS = 50;
const MOST_AT_ONCE = 8;
const agent = new http.Agent({ keepAlive: true });

/** Prints its port, answers each request after the delay, and ends with its input. */
function serve() {
  const server = http.createServer((request, response) => {
    setTimeout(() => response.end('{"ok":true}'), DELAY_MS);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.stdin.resume().once("end", () => process.exit());
}

/** Starts the server; returns it and its port. */
function start() {
  const server = spawn(process.execPath, [__filename, "serve"], { stdio: ["pipe", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", () => reject(new Error("the server ended")));
    server.stdout.once("data", (line) => resolve({ server, port: Number(line) }));
  });
}

/** Returns the milliseconds until the whole response has arrived. */
function call(port) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port, agent }, (response) => {
        response.resume();
        response.once("end", () => resolve(performance.now() - start));
      })
      .once("error", reject);
  });
}

/** Runs `count` calls with `width` of them in flight. */
async function run(port, count, width) {
  const times = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      times.push(await call(port));
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
  return times;
}

async function main() {
  const [way, words] = process.argv.slice(2);
  if (way === "serve") return serve();
  const count = Number(words);
  const width = { sequential: 1, parallel: count, limited: MOST_AT_ONCE }[way];
  if (!(count > 0) || width === undefined) {
    console.error("usage: node calls.js sequential|parallel|limited CALLS");
    process.exit(2);
  }
  const { server, port } = await start();
  // The first call includes loading the client, so every way begins with one call that doesn't count.
  await call(port);
  const begin = performance.now();
  const times = await run(port, count, width);
  const took = performance.now() - begin;
  const slowest = Math.max(...times);
  console.log(`took ${took.toFixed(3)} ms, slowest ${slowest.toFixed(3)} ms, over ${(took - slowest).toFixed(3)} ms`);
  agent.destroy();
  server.stdin.end();
}

main();
