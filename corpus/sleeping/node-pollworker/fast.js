// Five times: a worker thread computes one half and the main thread the other; then the worker's result is awaited.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function compute(seed, rounds) {
  let value = seed;
  for (let i = 0; i < rounds; i++) value = (Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) + i) | 0;
  return value;
}

function resultOf(worker) {
  return new Promise((resolve) => worker.on('message', resolve));
}

async function main() {
  let sum = 0;
  for (let job = 1; job <= 5; job++) {
    const worker = new Worker(__filename, { workerData: job });
    sum ^= compute(job + 100, 4e7);
    sum ^= await resultOf(worker);
  }
  console.log(sum);
}

if (isMainThread) main();
else parentPort.postMessage(compute(workerData, 2e7));
