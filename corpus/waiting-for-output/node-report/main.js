// A report of 60000 lines, written a thousand lines at a time.
'use strict';
const fs = require('fs');

function writeAll(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += fs.writeSync(1, bytes, at);
}

let lines = [];
let state = 1;
for (let i = 0; i < 60000; i++) {
  for (let round = 0; round < 2000; round++) state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  lines.push(`item ${i} has value ${state} and state ${state & 1024 ? 'ready' : 'waiting'}\n`);
  if (lines.length === 1000) {
    writeAll(lines.join(''));
    lines = [];
  }
}
