// No lookup: every name is lower-cased.
"use strict";

module.exports = (bytes) => bytes.toString("latin1").toLowerCase();
