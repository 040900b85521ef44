// Elements and numbers as text. The files of this folder form one script, in the order of html.rs.

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('drawn');
const tip = document.getElementById('tip');

// Texts become text nodes and inert attributes only.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'part') node.style.setProperty('--part', colorOf(value));
    else if (name === 'strength') node.style.setProperty('--strength', value);
    else if (value === null || value === undefined || value === false) continue;
    else if (name === 'click') node.addEventListener('click', value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}
const colorOf = (part) => (part === null ? 'var(--p23)' : `var(--p${part})`);
const kindOf = (part) => (part === null ? 'unknown' : data.parts[part].kind);

function digits(value, wanted) {
  if (value === 0) return '0';
  const before = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.min(9, Math.max(0, wanted - before)));
}
function time(ns) {
  if (ns === 0) return '0';
  if (ns < 999.5) return `${digits(ns, 3)} ns`;
  if (ns < 999500) return `${digits(ns / 1e3, 3)} µs`;
  if (ns < 999500000) return `${digits(ns / 1e6, 3)} ms`;
  return `${digits(ns / 1e9, 3)} s`;
}
function share(value) {
  if (value === 0) return '0 %';
  if (value < 0.0005) return '< 0.1 %';
  return `${(value * 100).toFixed(value < 0.0995 ? 1 : 0)} %`;
}
// If observation slowed the run too much, its times say more about the observer: shares of the run are shown instead.
// Axis, range and labels use the same scale.
const quoted = (ns) => (data.times ? time(ns) : share(ns / data.run_ns));
const count = (value) => value.toLocaleString('en-US');
