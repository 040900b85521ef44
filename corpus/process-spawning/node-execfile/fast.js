// The names of 200 paths by path.basename.
'use strict';
const crypto = require('crypto');
const path = require('path');

let digest = '';
for (let i = 0; i < 200; i++) {
  digest += path.basename(`/srv/data/${i % 7}/file${i}.txt`);
  for (let round = 0; round < 200; round++) digest = crypto.createHash('sha256').update(digest).digest('hex');
}
console.log(digest);
