// Bytes in lower case, as HTTP has it: only the letters A to Z change.
"use strict";

const lowerCase = Uint8Array.from({ length: 256 }, (_, code) => (code >= 65 && code <= 90 ? code + 32 : code));

// Returns whether `bytes` in lower case are equal to `lower`.
function equalLowerCase(bytes, lower) {
  if (bytes.length !== lower.length) return false;
  for (let i = 0; i < lower.length; i++) {
    if (lowerCase[bytes[i]] !== lower[i]) return false;
  }
  return true;
}

module.exports = { equalLowerCase, lowerCase };
