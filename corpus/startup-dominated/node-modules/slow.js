// Scale a number by one part of a library whose index loads 1200 modules.
'use strict';
const library = require(`${process.argv[2]}/index.js`);

let value = 1;
for (let round = 0; round < 30000000; round++) value = library.part0007.scale(value);
console.log(value);
