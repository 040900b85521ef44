// Eight small workloads and two more for strings, in plain ECMAScript 2020. The host provides one function,
// hostClock(), which returns milliseconds with fractions. Each workload makes
// `count` operations and returns a number that depends on all of them, so the engine can't skip any.
"use strict";

const words = Array.from({ length: 256 }, (_, i) => `word-${(i * 2654435761) % 4294967296}-${i}`);

function string(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const word = words[i & 255];
    sum += word.indexOf("-", 5) + word.slice(2, 8).toUpperCase().charCodeAt(1);
  }
  return sum;
}

// The same operations on one word: an engine may move them out of the loop or cache the results.
function same_string(count) {
  const word = words[77];
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += word.indexOf("-", 5) + word.slice(2, 8).toUpperCase().charCodeAt(1);
  }
  return sum;
}

// A text that grows by pieces while all its former values are kept: an engine that represents it as a tree of
// pieces copies nothing; any other copies the whole text for each piece.
const former = new Array(128);

function growing(count) {
  let sum = 0;
  let text = "";
  for (let i = 0; i < count; i++) {
    if ((i & 127) === 0) text = "";
    text += words[i & 255];
    former[i & 127] = text;
    sum += text.length & 63;
  }
  return sum;
}

const kept = new Array(64);

function object(count) {
  for (let i = 0; i < count; i++) {
    kept[i & 63] = { id: i, name: words[i & 255], active: true, at: { x: i, y: -i } };
  }
  return kept.reduce((sum, item) => sum + item.at.x, 0);
}

const points = Array.from({ length: 64 }, (_, i) => ({ x: i, y: 2 * i, z: 0, hits: 0 }));

function property(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const point = points[i & 63];
    point.z = point.x + point.y;
    point.hits++;
    sum = (sum + point.z) & 0xffff;
  }
  return sum;
}

const routes = { "GET /": () => ({ status: 200, body: "home" }), "GET /users": listUser, "POST /users": makeUser };

function listUser(request) {
  return { status: 200, body: { id: request.query.id, agent: request.headers["user-agent"] } };
}

function makeUser(request) {
  return { status: 201, body: { name: request.query.name } };
}

function parseQuery(text) {
  const query = {};
  for (const pair of text.split("&")) {
    const at = pair.indexOf("=");
    query[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return query;
}

const targets = ["/users?id=17&page=2", "/?a=1", "/users?name=ada", "/none?x=y"];

function handle(method, target) {
  const [path, query] = target.split("?");
  const request = { method, path, query: parseQuery(query), headers: { "user-agent": "bench", accept: "*/*" } };
  const route = routes[`${method} ${path}`];
  const response = route ? route(request) : { status: 404, body: "not found" };
  return `HTTP/1.1 ${response.status}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(response.body)}`;
}

function handler(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += handle(i & 1 ? "GET" : "POST", targets[i & 3]).length;
  }
  return sum;
}

function add(a, b) {
  return a + b;
}

function twice(f, a) {
  return f(f(a, 1), 2) & 0xffff;
}

function call(count) {
  let value = 0;
  for (let i = 0; i < count; i++) {
    value = twice(add, value) ^ (i & 1);
  }
  return value;
}

function concat(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    let text = "";
    for (let k = 0; k < 8; k++) {
      text += words[(i + k) & 255];
    }
    sum += text.charCodeAt(text.length - 1);
  }
  return sum;
}

function array(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const items = [];
    for (let k = 0; k < 16; k++) {
      items.push((i + k) & 31);
    }
    sum += items
      .filter((item) => item & 1)
      .map((item) => item * 3)
      .reduce(add, 0);
  }
  return sum;
}

const document = JSON.stringify({
  id: 17,
  name: "a name",
  tags: ["one", "two", "three"],
  items: Array.from({ length: 8 }, (_, i) => ({ sku: `item-${i}`, price: i * 1.25, stock: i % 2 === 0 })),
});

function json(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const parsed = JSON.parse(document);
    parsed.id = i & 1023;
    sum += JSON.stringify(parsed).length;
  }
  return sum;
}

const workloads = { string, same_string, growing, object, property, handler, call, concat, array, json };

// Returns the number of operations that take at least `least` milliseconds, found by doubling. This is also the warm-up.
function calibrate(workload, least) {
  for (let count = 16; ; count *= 2) {
    const start = hostClock();
    workload(count);
    if (hostClock() - start >= least) return count;
  }
}

const SLICES = 4;
const LEAST_MS = 30;

// Returns the best of four slices of 30 ms or more.
function rate(workload) {
  const count = calibrate(workload, LEAST_MS);
  let best = 0;
  for (let slice = 0; slice < SLICES; slice++) {
    const start = hostClock();
    workload(count);
    best = Math.max(best, (count / (hostClock() - start)) * 1000);
  }
  return best;
}

// Called by the hosts: returns a line for each workload.
function measureAll() {
  return Object.entries(workloads)
    .map(([name, workload]) => `${name}: ${rate(workload).toFixed(0)} ops/s`)
    .join("\n");
}

// Returns the results of 1,000 operations of each workload, which must be equal in all engines.
function checkAll() {
  return Object.entries(workloads)
    .map(([name, workload]) => `${name}: ${workload(1000)}`)
    .join("\n");
}
