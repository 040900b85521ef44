// The tree, with names that are the engine's unique copies: a string that was made at run time may have to
// be looked up among those before it becomes the key of a property.
"use strict";

const { lookupIn } = require("../tree.cjs");
const { uniqueNames } = require("../unique.cjs");

module.exports = lookupIn(uniqueNames());
