// One worker a CPU computes; the main thread looks at shared memory in every turn of its loop.
'use strict';
const os = require('os');
const { Worker, isMainThread, workerData } = require('worker_threads');

function work(value) {
  for (let round = 0; round < 150000000; round++) value = Math.imul(value ^ (value >>> 13), 0x5bd1e995);
  return value;
}

if (isMainThread) {
  const count = os.availableParallelism();
  const shared = new Int32Array(new SharedArrayBuffer(4 * (count + 1)));
  for (let i = 1; i <= count; i++) new Worker(__filename, { workerData: { shared, i } });
  const look = () => {
    if (Atomics.load(shared, 0) < count) setImmediate(look);
    else console.log(shared.slice(1).join(' '));
  };
  look();
} else {
  const { shared, i } = workerData;
  shared[i] = work(i);
  Atomics.add(shared, 0, 1);
}
