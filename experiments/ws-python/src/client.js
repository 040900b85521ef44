// Two WebSocket clients that play ping-pong through a relay: each message that one
// sends reaches the other, which answers. Counts round trips as the first client sees them.
//
//     node client.js URL SECONDS [deflate|plain]
//
// `deflate` is the default of the package ws: the client offers permessage-deflate.
"use strict";

const WebSocket = require("ws");

const [url, seconds = "2", compression = "deflate"] = process.argv.slice(2);
const options = { perMessageDeflate: compression === "deflate" };

function connect() {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options);
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

async function main() {
  const first = await connect();
  const second = await connect();
  const end = performance.now() + Number(seconds) * 1000;
  const start = performance.now();
  let roundTrips = 0;

  second.on("message", () => second.send("client 2!"));
  first.on("message", () => {
    roundTrips += 1;
    if (performance.now() < end) {
      first.send("client 1!");
      return;
    }
    const rate = (roundTrips * 1000) / (performance.now() - start);
    console.log(`${rate.toFixed(1)} round trips/s, extension: ${first.extensions || "none"}`);
    first.close();
    second.close();
  });
  first.send("client 1!");
}

main();
