// Scale a number by one part of a library, which is loaded alone.
'use strict';
const { scale } = require(`${process.argv[2]}/part0007.js`);

let value = 1;
for (let round = 0; round < 30000000; round++) value = scale(value);
console.log(value);
