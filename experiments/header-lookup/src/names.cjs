// Names of HTTP headers as they are usually written (IANA's registry, the common part).
"use strict";

module.exports = `
Accept Accept-Charset Accept-Encoding Accept-Language Accept-Patch Accept-Ranges Access-Control-Allow-Credentials
Access-Control-Allow-Headers Access-Control-Allow-Methods Access-Control-Allow-Origin Access-Control-Expose-Headers
Access-Control-Max-Age Access-Control-Request-Headers Access-Control-Request-Method Age Allow Alt-Svc Authorization
Cache-Control Clear-Site-Data Connection Content-Disposition Content-Encoding Content-Language Content-Length
Content-Location Content-Range Content-Security-Policy Content-Type Cookie Cross-Origin-Embedder-Policy
Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy Date Device-Memory Downlink ETag Early-Data Expect Expires
Forwarded From Host If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since Keep-Alive Last-Modified
Link Location Max-Forwards Origin Permissions-Policy Pragma Priority Proxy-Authenticate Proxy-Authorization RTT Range
Referer Referrer-Policy Retry-After Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Sec-WebSocket-Accept
Sec-WebSocket-Extensions Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version Server Server-Timing
Service-Worker-Allowed Set-Cookie SourceMap Strict-Transport-Security TE Timing-Allow-Origin Trailer
Transfer-Encoding Upgrade Upgrade-Insecure-Requests User-Agent Vary Via WWW-Authenticate X-Content-Type-Options
X-DNS-Prefetch-Control X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Frame-Options X-Powered-By X-Request-ID
X-XSS-Protection
`
  .trim()
  .split(/\s+/);
