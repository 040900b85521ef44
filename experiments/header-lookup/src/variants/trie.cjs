// The tree, with names as toLowerCase() made them.
"use strict";

const { lookupIn } = require("../tree.cjs");

module.exports = lookupIn(require("../names.cjs").map((name) => name.toLowerCase()));
