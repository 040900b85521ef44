// Elements, and numbers as text. The files of this folder form one script, in the order of html.rs.

// Texts become text nodes and inert attributes only.
function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}
// A name that may break after a slash, as in tables.
const named = (text) => text.split('/').flatMap((part, at) => (at ? ['/', el('wbr'), part] : [part]));
const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) => put(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

const SECONDS = { seconds: 1, s: 1, ms: 1e-3, 'µs': 1e-6, us: 1e-6, ns: 1e-9 };
// Returns the unit that fits a value. Times and bytes have several; any other unit is used as it is.
function scaleOf(value, unit) {
  if (unit in SECONDS) {
    const seconds = Math.abs(value) * SECONDS[unit];
    const [size, symbol] = seconds >= 0.9995 ? [1, 's'] : seconds >= 0.0009995 || seconds === 0 ? [1e-3, 'ms'] : seconds >= 9.995e-7 ? [1e-6, 'µs'] : [1e-9, 'ns'];
    return { factor: SECONDS[unit] / size, symbol };
  }
  if (unit === 'bytes' || unit === 'B') {
    const power = [4, 3, 2, 1, 0].find((step) => Math.abs(value) >= 1024 ** step * 0.9995) || 0;
    return { factor: 1 / 1024 ** power, symbol: ['B', 'KiB', 'MiB', 'GiB', 'TiB'][power] };
  }
  return { factor: 1, symbol: unit === 'count' ? '' : unit };
}
const before = (value) => (value === 0 || !Number.isFinite(value) ? 1 : Math.floor(Math.log10(Math.abs(value))) + 1);
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
// Returns the number of decimals that an interval supports, as fathom_stats::supported_decimals does.
function decimalsOf(value, low, high) {
  const width = Math.abs(high - low);
  if (!(width > 0)) return value === 0 ? 0 : clamp(4 - before(value), 0, 9);
  const magnitude = Math.floor(Math.log10(width));
  const wanted = width / 10 ** magnitude < 3.55 ? 1 - magnitude : -magnitude;
  return clamp(clamp(wanted, 2 - before(value), 6 - before(value)), 0, 9);
}
const grouped = (value, decimals) => value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
const withUnit = (text, symbol) => (symbol ? `${text} ${symbol}` : text);
// Formats a point's value and interval with their unit and the digits that the interval supports.
function written(point, unit) {
  const scale = scaleOf(point.value, unit);
  const decimals = decimalsOf(...[point.value, point.low, point.high].map((value) => value * scale.factor));
  const number = (value) => grouped(value * scale.factor, decimals);
  return {
    value: withUnit(number(point.value), scale.symbol),
    interval: point.low < point.high ? `${number(point.low)} to ${withUnit(number(point.high), scale.symbol)}` : '',
  };
}
function signed(share) {
  const percent = share * 100;
  const size = Math.abs(percent);
  const sign = percent > 0 ? '+' : '';
  if (size < 0.05) return '0 %';
  if (size < 9.95) return `${sign}${percent.toFixed(1)} %`;
  return size < 999.5 ? `${sign}${percent.toFixed(0)} %` : `x${(share + 1).toFixed(0)}`;
}
const dateOf = (seconds) => new Date(seconds * 1000).toISOString();
