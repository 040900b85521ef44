// The lower-case names as keys of properties, which engines keep once.
"use strict";

const uniqueNames = () => Object.keys(Object.fromEntries(require("./names.cjs").map((name) => [name.toLowerCase(), 0])));

module.exports = { uniqueNames };
