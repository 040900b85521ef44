// 15000 requests; each reads the settings again, and each 300th waits 5 ms before the next.
'use strict';
const crypto = require('crypto');
const fs = require('fs');

const settings = () => fs.readFileSync(process.argv[2], 'latin1');

async function main() {
  let text = settings();
  let digest = '';
  for (let request = 0; request < 15000; request++) {
    if (process.env.FIRST) text = settings();
    const at = text.indexOf(`key00000${request % 4}=`) + 10;
    for (let again = 0; again < 4; again++) digest = crypto.createHash('sha256').update(digest).update(text.slice(at, at + 9)).digest('hex');
    if (process.env.SECOND && request % 300 === 0) await new Promise((done) => setTimeout(done, 5));
  }
  console.log(digest);
}

main();
