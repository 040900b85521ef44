// Two WebSocket clients that play ping-pong through a relay: each message of one
// reaches the other, which answers. Counts the round trips of the first client
// and the processor time of both clients.
//
//     node client.js URL ROUND_TRIPS [deflate|plain]
//
// `deflate` is the default of the package ws: the client offers permessage-deflate.
"use strict";

const WebSocket = require("ws");

const [url, words, compression = "deflate"] = process.argv.slice(2);
const wanted = Number(words);
const options = { perMessageDeflate: compression === "deflate" };

function connect() {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options);
    socket.on("open", () => resolve(socket));
    socket.on("error", reject);
  });
}

async function main() {
  const first = await connect();
  const second = await connect();
  let roundTrips = 0;
  const times = [];
  let sent = 0;
  const send = () => {
    sent = performance.now();
    first.send("client 1!");
  };

  second.on("message", () => second.send("client 2!"));
  first.on("message", () => {
    times.push(performance.now() - sent);
    roundTrips += 1;
    if (roundTrips < wanted) {
      send();
      return;
    }
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore); // of all threads, in microseconds
    console.log(`${(wanted / seconds).toFixed(1)} round trips/s, extension ${first.extensions || "none"}`);
    times.sort((a, b) => a - b);
    console.log(`slowest but one in a hundred ${times[Math.ceil(0.99 * wanted) - 1].toFixed(3)} ms`);
    console.log(`client CPU ${((user + system) / wanted).toFixed(1)} us a round trip`);
    first.close();
    second.close();
  });
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  send();
}

main();
