// No look-up at all: every name is lower-cased.
"use strict";

module.exports = (bytes) => bytes.toString("latin1").toLowerCase();
