// The lower-case names as property keys, of which engines keep a single copy.
"use strict";

const uniqueNames = () => Object.keys(Object.fromEntries(require("./names.cjs").map((name) => [name.toLowerCase(), 0])));

module.exports = { uniqueNames };
