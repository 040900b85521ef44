// The headers of an ordinary response as a client's parser passes them: alternating names and values, as bytes.
"use strict";

const text = `
Date: Tue, 05 Mar 2024 10:20:30 GMT
Content-Type: text/html; charset=utf-8
Content-Length: 5120
Connection: keep-alive
Server: example/1.2
Cache-Control: max-age=600
ETag: "65e6f0a1-1400"
Last-Modified: Tue, 05 Mar 2024 10:00:01 GMT
Vary: Accept-Encoding
Accept-Ranges: bytes
Age: 17
Via: 1.1 cache
Strict-Transport-Security: max-age=31536000
X-Content-Type-Options: nosniff
X-Frame-Options: SAMEORIGIN
Referrer-Policy: strict-origin
Content-Security-Policy: default-src 'self'
Set-Cookie: id=a3fWa; Path=/
Access-Control-Allow-Origin: *
Permissions-Policy: geolocation=()
X-Request-ID: 7b1d-55
X-Cache-Status: HIT
X-Shard: 12
Alt-Svc: h3=":443"
`.trim();

const lines = text.split("\n").map((line) => line.split(/: (.*)/, 2));

module.exports = {
  // [name, value, name, value, …]
  raw: lines.flat().map((part) => Buffer.from(part, "latin1")),
  // Twenty-four headers; the names of two are in no table.
  count: lines.length,
};
