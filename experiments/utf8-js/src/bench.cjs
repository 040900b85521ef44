// usage: bench.cjs SCRIPT [BYTES]   prints the best speed of each way, in gigabytes per second
//        bench.cjs check            checks that all ways agree
"use strict";

const checkers = require("./checkers.cjs");
const { makeText } = require("./text.cjs");

const SLICE_NS = 10e6;
const SLICES = 8;

// Calls `check` many times; each way has its own function, so an engine can specialize each.
function callerOf(name) {
  return new Function("check", "bytes", "calls", `/* ${name} */
    for (let i = 0; i < calls; i++) if (!check(bytes)) throw new Error("the text is valid");`);
}

function slicesOf(name, check, bytes) {
  const call = callerOf(name);
  let calls = 1;
  const slice = () => {
    const start = process.hrtime.bigint();
    call(check, bytes, calls);
    return Number(process.hrtime.bigint() - start);
  };
  while (slice() < SLICE_NS) calls *= 2;
  return { name, fastest: 0, rate: () => (calls * bytes.length) / slice() };
}

// All sequences of one and two bytes, and those of three and four whose later bytes are at an edge.
function* rows() {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
  yield [];
  for (const a of all) {
    yield [a];
    for (const b of all) yield [a, b];
    for (const b of edges) for (const c of edges) yield [a, b, c];
  }
  for (let a = 0xe0; a <= 0xff; a++) for (const b of edges) for (const c of edges) for (const d of edges) yield [a, b, c, d];
}

function checkAll() {
  let count = 0;
  for (const row of rows()) {
    const bytes = Uint8Array.from([0x61, ...row]);
    const answers = Object.entries(checkers).map(([name, check]) => `${name} ${check(bytes)}`);
    if (new Set(answers.map((answer) => answer.split(" ")[1])).size > 1) throw new Error(`they differ on ${row}: ${answers}`);
    count++;
  }
  console.log(`all ${Object.keys(checkers).length} agree on ${count} rows of bytes`);
}

// The ways take turns, so disturbances affect all of them.
function measure(script, size) {
  const bytes = makeText(script, size);
  const ways = Object.entries(checkers).map(([name, check]) => slicesOf(name, check, bytes));
  for (let i = 0; i < SLICES; i++) for (const way of ways) way.fastest = Math.max(way.fastest, way.rate());
  for (const { name, fastest } of ways) console.log(`${name}: ${fastest.toFixed(4)} GB/s`);
}

const [script, size = "65536"] = process.argv.slice(2);
if (script === "check") checkAll();
else measure(script, Number(size));
