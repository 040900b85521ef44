// The tree, with names that are the engine's unique copies: the engine may have to look up a string that was made
// at run time among these before it becomes a property key.
"use strict";

const { lookupIn } = require("../tree.cjs");
const { uniqueNames } = require("../unique.cjs");

module.exports = lookupIn(uniqueNames());
