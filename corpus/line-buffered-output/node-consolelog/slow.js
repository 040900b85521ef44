// A log of lines; console.log writes each one to the system.
'use strict';
let state = 1;
for (let i = 0; i < 250000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  console.log(`item ${i} has value ${state} and state ${state & 1024 ? 'ready' : 'waiting'}`);
}
