// Work in 40 steps, with a timer of 20 ms between them.
'use strict';
const crypto = require('crypto');

async function main() {
  let digest = '';
  for (let step = 0; step < 40; step++) {
    for (let round = 0; round < 800; round++) digest = crypto.createHash('sha256').update(digest).digest('hex');
    await new Promise((done) => setTimeout(done, 20));
  }
  console.log(digest);
}

main();
