// Loads the generated file, which Bun puts into one program with it, and calls one of its functions.
"use strict";

const steps = require("./steps.js");
console.log(JSON.stringify(steps.step7([1, null, "three", 40])));
