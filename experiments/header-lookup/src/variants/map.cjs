// An object that maps each usual spelling to the lower-case name; any other name is lower-cased.
"use strict";

const record = Object.create(null);
for (const name of require("../names.cjs")) {
  record[name] = record[name.toLowerCase()] = name.toLowerCase();
}

module.exports = (bytes) => {
  const name = bytes.toString("latin1");
  return record[name] ?? name.toLowerCase();
};
