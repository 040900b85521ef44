// Work on 300000 items; process.cpuUsage(), which is a system call, is read for one in 10000.
'use strict';
const EVERY = 10000;

let value = 1;
let busy = 0;
for (let item = 0; item < 300000; item++) {
  for (let round = 0; round < 100; round++) value = Math.imul(value ^ (value >>> 13), 0x5bd1e995);
  if (item % EVERY === 0) busy = Math.max(busy, process.cpuUsage().user);
}
console.log(value, busy > 0);
