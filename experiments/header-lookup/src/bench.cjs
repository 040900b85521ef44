// usage: bench.cjs VARIANT time|memory|server|check
// time:   microseconds to turn the headers of a response into an object (the best of many slices)
// memory: resident memory with this variant alone, after collecting garbage and waiting for half a second
// server: CPU time of a request to a server of node:http, client included, and of the lookups in it
// check:  whether it agrees with lower-casing for all names, in several spellings
"use strict";

const { join } = require("node:path");
const names = require("./names.cjs");
const { raw, count } = require("./headers.cjs");

function parse(headers, lookup) {
  const parsed = {};
  for (let i = 0; i < headers.length; i += 2) {
    parsed[lookup(headers[i])] = headers[i + 1].toString("latin1");
  }
  return parsed;
}

// Only the names: the variants differ in nothing else.
function lookUpAll(headers, lookup) {
  let sum = 0;
  for (let i = 0; i < headers.length; i += 2) sum += lookup(headers[i]).length;
  return sum;
}

const SLICE_US = 5_000;
const SLICES = 15;

// Runs slices of at least 5 ms of `work`; `least` becomes the lowest time of one call, in microseconds.
function slicesOf(work) {
  let calls = 1;
  const slice = () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) work();
    return Number(process.hrtime.bigint() - start) / 1e3;
  };
  while (slice() < SLICE_US) calls *= 2;
  const slices = { least: Infinity, run: () => (slices.least = Math.min(slices.least, slice() / calls)) };
  return slices;
}

// Both take turns, so disturbances affect both.
function time(lookup) {
  const parsing = slicesOf(() => parse(raw, lookup));
  const looking = slicesOf(() => lookUpAll(raw, lookup));
  for (let i = 0; i < SLICES; i++) for (const slices of [parsing, looking]) slices.run();
  console.log(`parse: ${parsing.least.toFixed(4)} us\nlookup: ${looking.least.toFixed(4)} us\nheaders: ${count}`);
}

function collectGarbage() {
  if (globalThis.Bun) Bun.gc(true);
  else globalThis.gc?.();
}

function memory(lookup) {
  for (let i = 0; i < 10_000; i++) parse(raw, lookup);
  collectGarbage();
  setTimeout(() => console.log(`resident: ${process.memoryUsage.rss()} bytes`), 500);
}

function server(lookup) {
  require("./server.cjs").measure((bytes) => lookUpAll(bytes, lookup));
}

function check(lookup) {
  const spellings = (name) => [name, name.toLowerCase(), name.toUpperCase(), `${name}s`, name.slice(1), `x${name}`];
  const wrong = [...names.flatMap(spellings), "x", "", "x-Unknown"].filter(
    (name) => lookup(Buffer.from(name, "latin1")) !== name.toLowerCase(),
  );
  if (wrong.length > 0) throw new Error(`wrong: ${wrong.join(", ")}`);
  console.log("agrees");
}

const modes = { time, memory, server, check };
const [variant, mode] = process.argv.slice(2);
modes[mode](require(join(__dirname, "variants", `${variant}.cjs`)));
