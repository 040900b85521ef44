// One worker a CPU computes; the main thread is told when each is done.
'use strict';
const os = require('os');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function work(value) {
  for (let round = 0; round < 150000000; round++) value = Math.imul(value ^ (value >>> 13), 0x5bd1e995);
  return value;
}

if (isMainThread) {
  const count = os.availableParallelism();
  const results = [];
  let left = count;
  for (let i = 1; i <= count; i++) {
    new Worker(__filename, { workerData: i }).on('message', (value) => {
      results[i - 1] = value;
      left -= 1;
      if (left === 0) console.log(results.join(' '));
    });
  }
} else {
  parentPort.postMessage(work(workerData));
}
