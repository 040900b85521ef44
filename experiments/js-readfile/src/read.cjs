// Reads one file COUNT times in one of five ways; prints wall and CPU time.
// usage: read.cjs promises|promisify|sync|await_sync|callback FILE [COUNT [BATCH]]
// BATCH: the number of reads to start before waiting for the first one. All texts of a batch are kept.
"use strict";

const fs = require("node:fs");
const { promisify } = require("node:util");

const read = promisify(fs.readFile);

// Starts one read and returns a promise of its text.
const ways = {
  promises: (file) => fs.promises.readFile(file, "utf8"),
  promisify: (file) => read(file, "utf8"),
  await_sync: async (file) => fs.readFileSync(file, "utf8"),
};

const total = (texts) => texts.reduce((sum, text) => sum + text.length, 0);

async function byPromises(way, file, count) {
  return total(await Promise.all(Array.from({ length: count }, () => way(file))));
}

function bySync(file, count) {
  let length = 0;
  for (let i = 0; i < count; i++) length += fs.readFileSync(file, "utf8").length;
  return length;
}

function byCallback(file, count) {
  return new Promise((resolve, reject) => {
    const texts = [];
    for (let i = 0; i < count; i++) {
      fs.readFile(file, "utf8", (error, text) => {
        if (error) return reject(error);
        if (texts.push(text) === count) resolve(total(texts));
      });
    }
  });
}

function readBatch(variant, file, count) {
  if (variant === "sync") return bySync(file, count);
  if (variant === "callback") return byCallback(file, count);
  return byPromises(ways[variant], file, count);
}

async function main() {
  const [variant, file, count = "50000", batch = count] = process.argv.slice(2);
  const start = process.hrtime.bigint();
  const cpuStart = process.cpuUsage();
  let length = 0;
  for (let left = Number(count); left > 0; left -= Number(batch)) {
    length += await readBatch(variant, file, Math.min(left, Number(batch)));
  }
  const wall = Number(process.hrtime.bigint() - start) / 1e6;
  const cpu = process.cpuUsage(cpuStart);
  if (length !== Number(count) * fs.statSync(file).size) throw new Error(`${length} bytes were read`);
  console.log(`wall: ${wall.toFixed(1)} ms\ncpu: ${((cpu.user + cpu.system) / 1e3).toFixed(1)} ms`);
}

main().catch((error) => {
  console.error(`read.cjs: ${error.message}`);
  process.exitCode = 1;
});
