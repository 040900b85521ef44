// Sum the sizes of 2000 files, 100 times over, with one stat for each file.
'use strict';
const fs = require('fs');

const root = process.argv[2];
const paths = fs.readdirSync(root).sort().flatMap((name) => fs.readdirSync(`${root}/${name}`).sort().map((file) => `${root}/${name}/${file}`));
const sizes = new Map(paths.map((path) => [path, fs.statSync(path).size]));
let total = 0;
for (let round = 0; round < 100; round++) {
  for (const path of paths) {
    total += sizes.get(path);
    for (let again = 0; again < 200; again++) total = Math.imul(total ^ (total >>> 13), 0x5bd1e995);
  }
}
console.log(total);
