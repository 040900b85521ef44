// The tree, with names made by toLowerCase().
"use strict";

const { lookupIn } = require("../tree.cjs");

module.exports = lookupIn(require("../names.cjs").map((name) => name.toLowerCase()));
