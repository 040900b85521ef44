// A log of lines, written in blocks of a thousand lines.
'use strict';
let lines = [];
let state = 1;
for (let i = 0; i < 250000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  lines.push(`item ${i} has value ${state} and state ${state & 1024 ? 'ready' : 'waiting'}`);
  if (lines.length === 1000) {
    console.log(lines.join('\n'));
    lines = [];
  }
}
