// Draws the timeline.

// The color shows the part; height and pattern show its kind, so the timeline is readable without color.
const HEIGHTS = { own: 18, kernel: 18, waiting: 11, starved: 14, unknown: 6 };
function fill(part) {
  if (fills.has(part)) return fills.get(part);
  const tile = document.createElement('canvas');
  tile.width = 8;
  tile.height = 8;
  const ink = tile.getContext('2d');
  ink.fillStyle = colors.parts[part];
  ink.fillRect(0, 0, 8, 8);
  ink.strokeStyle = 'rgba(255,255,255,.42)';
  ink.fillStyle = 'rgba(255,255,255,.55)';
  ink.lineWidth = 1.6;
  const line = (...points) => {
    ink.beginPath();
    ink.moveTo(points[0], points[1]);
    ink.lineTo(points[2], points[3]);
    ink.stroke();
  };
  const kind = data.parts[part].kind;
  if (kind === 'kernel' || kind === 'starved') { line(-2, 10, 10, -2); line(-2, 2, 2, -2); line(6, 10, 10, 6); }
  if (kind === 'starved') { line(-2, -2, 10, 10); }
  if (kind === 'waiting') { ink.fillRect(1, 1, 1.6, 1.6); ink.fillRect(5, 5, 1.6, 1.6); }
  if (kind === 'unknown') { line(2, 0, 2, 8); line(6, 0, 6, 8); }
  const pattern = pen.createPattern(tile, 'repeat');
  fills.set(part, pattern);
  return pattern;
}
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  colors = {
    parts: data.parts.map((_, part) => of(`--p${part}`)),
    ink: of('--ink'), soft: of('--soft'), line: of('--line'), card: of('--card'), fill: of('--fill'), accent: of('--accent'),
  };
  fills.clear();
}
function firstVisible(runs) {
  let low = 0;
  let high = runs.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs.to[middle] <= view.from) low = middle + 1;
    else high = middle;
  }
  return low;
}
function fitText(text, room) {
  if (pen.measureText(text).width <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : '';
}
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';

function drawLane(lane, row, top) {
  const middle = top + ROW / 2;
  const runs = lane.runs;
  if (lane.head && row > 0) {
    pen.fillStyle = colors.line;
    pen.fillRect(0, top, width, 1);
  }
  pen.save();
  pen.beginPath();
  pen.rect(gutter, top, width - gutter, ROW);
  pen.clip();
  pen.fillStyle = colors.fill;
  const life = [Math.max(gutter, x(lane.from)), Math.min(width, x(lane.to))];
  if (life[1] > life[0]) pen.fillRect(life[0], middle - 9, life[1] - life[0], 18);
  let painted = -1;
  for (let at = firstVisible(runs); at < runs.size && runs.from[at] < view.to; at += 1) {
    const left = Math.max(gutter - 1, x(runs.from[at]));
    let right = Math.min(width, x(runs.to[at]));
    // Skip stretches within an already painted pixel: there can be thousands.
    if (right <= painted) continue;
    right = Math.max(right, Math.max(left, painted) + 0.7);
    painted = Math.max(left + 0.5, right);
    const info = data.parts[runs.part[at]];
    const tall = HEIGHTS[info.kind];
    pen.globalAlpha = chosen && !chosen(lane, at) ? 0.16 : 1;
    pen.fillStyle = fill(runs.part[at]);
    pen.fillRect(left, middle - tall / 2, right - left, tall);
    if (right - left > 3) {
      pen.fillStyle = colors.card;
      pen.fillRect(right - 0.6, middle - tall / 2, 0.6, tall);
    }
    if (right - left > 46) {
      pen.font = `600 ${info.kind === 'waiting' ? 10 : 11}px ${SANS}`;
      const text = fitText(info.short, right - left - 12);
      if (text) {
        const wide = pen.measureText(text).width;
        pen.fillStyle = colors.parts[runs.part[at]];
        pen.fillRect(left + 4, middle - tall / 2 + 1, wide + 4, tall - 2);
        pen.fillStyle = '#10131a';
        pen.fillText(text, left + 6, middle + 0.5);
      }
    }
    if (cursor && cursor.row === row && cursor.at === at) {
      pen.globalAlpha = 1;
      pen.strokeStyle = colors.ink;
      pen.lineWidth = 2;
      pen.strokeRect(left + 1, middle - 10, Math.max(2, right - left - 2), 20);
    }
  }
  pen.globalAlpha = 1;
  pen.restore();
  drawName(lane, row, top);
}
function badgesOf(lane) {
  const found = [];
  data.findings.forEach((finding, index) => {
    if (finding.pid !== lane.pid) return;
    if (finding.tid === null ? lane.head : finding.tid === lane.tid) found.push(index);
  });
  return found.slice(0, 6);
}
function drawName(lane, row, top) {
  const middle = top + ROW / 2;
  const badges = badgesOf(lane);
  const room = gutter - 14 - badges.length * 19;
  const indent = 10 + lane.depth * 10 + (lane.head ? 0 : 12);
  pen.font = `${lane.head ? '600 ' : ''}12px ${SANS}`;
  pen.fillStyle = cursor && cursor.row === row ? colors.accent : lane.head ? colors.ink : colors.soft;
  const id = lane.head ? String(lane.pid) : String(lane.tid);
  const name = lane.name || (lane.head ? 'process' : 'thread');
  pen.fillText(fitText(`${name}  ${id}`, Math.max(20, room - indent)), indent, middle + 0.5);
  badges.forEach((index, place) => {
    const center = gutter - 14 - (badges.length - 1 - place) * 19;
    pen.beginPath();
    pen.arc(center, middle, 8, 0, Math.PI * 2);
    pen.fillStyle = index === chosenFinding ? colors.accent : colors.ink;
    pen.fill();
    pen.fillStyle = colors.card;
    pen.font = `700 10.5px ${SANS}`;
    pen.textAlign = 'center';
    pen.fillText(String(index + 1), center, middle + 0.5);
    pen.textAlign = 'left';
  });
}
function drawAxis() {
  pen.fillStyle = colors.card;
  pen.fillRect(0, 0, width, TOP);
  pen.fillStyle = colors.line;
  pen.fillRect(0, TOP - 1, width, 1);
  pen.font = `11px ${SANS}`;
  const length = view.to - view.from;
  const scale = data.times ? 1 : data.run_ns / 100;
  const raw = length / scale / Math.max(2, (width - gutter) / 110);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) * scale;
  const unit = view.to >= 1e9 ? [1e9, 's'] : view.to >= 1e6 ? [1e6, 'ms'] : view.to >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const [size, symbol] = data.times ? unit : [data.run_ns / 100, '%'];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  for (let at = Math.ceil(view.from / step) * step; at <= view.to * (1 + 1e-9); at += step) {
    const px = x(at);
    pen.fillStyle = colors.line;
    pen.fillRect(px, TOP - 6, 1, height);
    const text = `${(at / size).toFixed(Math.min(9, decimals))} ${symbol}`;
    // The text of the last tick is to the left of its line.
    const wide = pen.measureText(text).width;
    pen.fillStyle = colors.soft;
    pen.fillText(text, px + wide + 4 > width ? px - wide - 3 : px + 3, TOP - 12);
  }
}
function drawPhases() {
  pen.font = `600 11px ${SANS}`;
  // Two rows of labels, each at its line. Labels that don't fit are in the list below and under the pointer.
  const free = [gutter, gutter];
  for (const phase of data.phases) {
    const px = x(phase.at);
    if (px < gutter - 1 || px > width) continue;
    const wide = pen.measureText(phase.name).width + 6;
    const left = px + wide > width ? px - wide : px + 2;
    const level = free.findIndex((end) => left >= end - 1);
    pen.strokeStyle = colors.accent;
    pen.lineWidth = 1;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(px, [4, 18][level] || 32);
    pen.lineTo(px, height);
    pen.stroke();
    pen.setLineDash([]);
    if (level < 0) continue;
    pen.fillStyle = colors.card;
    pen.fillRect(left, level === 0 ? 3 : 17, wide - 2, 13);
    pen.fillStyle = colors.accent;
    pen.fillText(phase.name, left + 2, level === 0 ? 10 : 24);
    free[level] = left + wide;
  }
}
function phasesAt(px) {
  return data.phases.filter((phase) => Math.abs(x(phase.at) - px) < 6);
}
let waiting = false;
function draw() {
  if (!canvas || waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; paint(); });
}
function paint() {
  const ratio = window.devicePixelRatio || 1;
  width = box.clientWidth;
  height = Math.min(560, TOP + lanes.length * ROW + 6);
  gutter = Math.max(96, Math.min(250, width * 0.24));
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.textBaseline = 'middle';
  pen.fillStyle = colors.card;
  pen.fillRect(0, 0, width, height);
  drawAxis();
  const scroll = box.scrollTop;
  pen.save();
  pen.beginPath();
  pen.rect(0, TOP, width, height - TOP);
  pen.clip();
  const first = Math.max(0, Math.floor(scroll / ROW));
  for (let row = first; row < lanes.length; row += 1) {
    const top = TOP + row * ROW - scroll + 3;
    if (top > height) break;
    drawLane(lanes[row], row, top);
  }
  pen.restore();
  drawPhases();
  if (drag && drag.moved) {
    pen.fillStyle = colors.accent;
    pen.globalAlpha = 0.2;
    pen.fillRect(Math.min(drag.start, drag.now), TOP, Math.abs(drag.now - drag.start), height);
    pen.globalAlpha = 1;
  }
  rangeText.textContent = `${quoted(view.from)} to ${quoted(view.to)}`;
}
