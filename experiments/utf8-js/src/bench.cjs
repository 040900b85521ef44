// usage: bench.cjs SCRIPT [BYTES]   gigabytes that each way checks in a second, at best
//        bench.cjs check            whether all ways agree
"use strict";

const checkers = require("./checkers.cjs");
const { makeText } = require("./text.cjs");

const SLICE_NS = 10e6;
const SLICES = 20;

function best(check, bytes) {
  let calls = 1;
  const slice = () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) if (!check(bytes)) throw new Error("the text is valid");
    return Number(process.hrtime.bigint() - start);
  };
  while (slice() < SLICE_NS) calls *= 2;
  let fastest = 0;
  for (let i = 0; i < SLICES; i++) fastest = Math.max(fastest, (calls * bytes.length) / slice());
  return fastest;
}

// All rows of one and two bytes; of three and four those whose later bytes are at an edge.
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
    const answers = Object.values(checkers).map((check) => check(bytes));
    if (new Set(answers).size > 1) throw new Error(`they differ on ${row}: ${answers}`);
    count++;
  }
  console.log(`all agree on ${count} rows of bytes`);
}

function measure(script, size) {
  const bytes = makeText(script, size);
  for (const [name, check] of Object.entries(checkers)) console.log(`${name}: ${best(check, bytes).toFixed(4)} GB/s`);
}

const [script, size = "65536"] = process.argv.slice(2);
if (script === "check") checkAll();
else measure(script, Number(size));
