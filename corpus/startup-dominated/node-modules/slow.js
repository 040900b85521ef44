// Scale a number by one part of a library whose index loads 1200 modules.
'use strict';
const { scale } = require(`${process.argv[2]}/index.js`).part0007;

let value = 1;
for (let round = 0; round < 30000000; round++) value = scale(value);
console.log(value);
