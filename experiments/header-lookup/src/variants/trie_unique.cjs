// The tree, with names that are the engine's unique copies. A string that was made at run time has to be
// looked up among those each time it becomes the key of a property.
"use strict";

const { lookupIn } = require("../tree.cjs");
const { uniqueNames } = require("../unique.cjs");

module.exports = lookupIn(uniqueNames());
