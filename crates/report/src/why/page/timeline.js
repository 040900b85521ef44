// The timeline: its lanes, the selection, and the range in view.

const lanes = data.timeline.lanes.map((lane) => {
  const size = lane.runs.length / 4;
  const from = new Float64Array(size);
  const to = new Float64Array(size);
  const part = new Uint8Array(size);
  const detail = new Int32Array(size);
  let end = 0;
  for (let at = 0; at < size; at += 1) {
    from[at] = end + lane.runs[at * 4];
    end = from[at] + lane.runs[at * 4 + 1];
    to[at] = end;
    part[at] = lane.runs[at * 4 + 2];
    detail[at] = lane.runs[at * 4 + 3];
  }
  return { ...lane, runs: { size, from, to, part, detail } };
});
const drawn = () => lanes.some((lane) => lane.runs.size > 0);

const ROW = 24;
const TOP = 56;
const view = { from: 0, to: Math.max(1, data.run_ns) };
let chosen = null;
let chosenFinding = null;
let chosenParts = null;
let cursor = null;
let drag = null;
let box, canvas, pen, rangeText, live, width, height, gutter, colors;
const fills = new Map();

// Returns a test for the stretches of a finding: those of its place and parts, restricted to its path if a stretch
// names that path.
function matcher(finding) {
  const inPlace = (lane) => (finding.pid === null || lane.pid === finding.pid)
    && (finding.tid === null || lane.tid === finding.tid);
  const inPart = (lane, at) => finding.parts.length === 0 || finding.parts.includes(lane.runs.part[at]);
  const named = new Set();
  if (finding.path) {
    data.timeline.details.forEach((text, at) => { if (text.includes(finding.path)) named.add(at + 1); });
  }
  const plain = (lane, at) => inPlace(lane) && inPart(lane, at);
  const exact = (lane, at) => plain(lane, at) && (named.has(lane.runs.detail[at]) || lane.runs.detail[at] < 0);
  return named.size && someStretch((lane, at) => plain(lane, at) && named.has(lane.runs.detail[at])) ? exact : plain;
}
function someStretch(test) {
  return lanes.some((lane) => {
    for (let at = 0; at < lane.runs.size; at += 1) if (test(lane, at)) return true;
    return false;
  });
}
function chooseFinding(index) {
  const off = chosenFinding === index;
  chosenFinding = off ? null : index;
  chosenParts = null;
  chosen = off ? null : matcher(data.findings[index]);
  markChosen();
  if (chosen) goTo(chosen);
  draw();
}
function chooseParts(parts, jump) {
  const off = chosenParts !== null && chosenParts.join() === parts.join();
  chosenFinding = null;
  chosenParts = off ? null : parts;
  chosen = off ? null : (lane, at) => parts.includes(lane.runs.part[at]);
  markChosen();
  if (jump && chosen && box) box.scrollIntoView({ block: 'nearest' });
  draw();
}
function markChosen() {
  document.querySelectorAll('.card').forEach((node, at) => {
    node.classList.toggle('chosen', at === chosenFinding);
    const button = node.querySelector('.show');
    if (button) button.setAttribute('aria-pressed', String(at === chosenFinding));
  });
  document.querySelectorAll('.kinds button[data-part]').forEach((node) => {
    node.setAttribute('aria-pressed', String(chosenParts !== null && chosenParts.includes(Number(node.getAttribute('data-part')))));
  });
}
// Scrolls and zooms to the first lane and the extent of the selection.
function goTo(test) {
  let first = -1;
  let from = Infinity;
  let to = -Infinity;
  lanes.forEach((lane, row) => {
    for (let at = 0; at < lane.runs.size; at += 1) {
      if (!test(lane, at)) continue;
      if (first < 0) first = row;
      from = Math.min(from, lane.runs.from[at]);
      to = Math.max(to, lane.runs.to[at]);
    }
  });
  if (first >= 0) {
    const margin = (to - from) * 0.05;
    if (to - from < data.run_ns * 0.8) setView(from - margin, to + margin);
    else setView(0, data.run_ns);
    box.scrollTop = Math.max(0, first * ROW - ROW);
  }
  box.scrollIntoView({ block: 'center' });
  box.focus({ preventScroll: true });
}

function setView(from, to) {
  const least = Math.max(100, data.run_ns / 1e6);
  let length = Math.min(Math.max(to - from, least), Math.max(1, data.run_ns));
  if (!Number.isFinite(length)) length = data.run_ns;
  view.from = Math.min(Math.max(0, from), Math.max(0, data.run_ns - length));
  view.to = view.from + length;
}
function zoom(factor, around) {
  const center = around === undefined ? (view.from + view.to) / 2 : around;
  setView(center - (center - view.from) * factor, center + (view.to - center) * factor);
  draw();
}
function pan(part) {
  const step = (view.to - view.from) * part;
  setView(view.from + step, view.to + step);
  draw();
}
const x = (ns) => gutter + (ns - view.from) / (view.to - view.from) * (width - gutter - 8);
const timeAt = (px) => view.from + (px - gutter) / (width - gutter - 8) * (view.to - view.from);

function timeline() {
  const section = el('section', { 'aria-labelledby': 'timeline-title' }, el('h2', { id: 'timeline-title' }, 'What ran when'));
  main.append(section);
  if (!drawn()) {
    section.append(el('p', { class: 'soft' }, 'This tier records no timeline.'));
    phases(section);
    return;
  }
  const button = (text, label, action) => el('button', { type: 'button', class: 'plain', 'aria-label': label, click: action }, text);
  rangeText = el('span', { class: 'small soft range number' });
  live = el('p', { class: 'small soft', 'aria-live': 'polite' });
  canvas = el('canvas', { role: 'img', 'aria-label': `Timeline of ${lanes.length} threads. Arrow keys, comma and period step through it and describe each stretch.` });
  box = el('div', { id: 'timeline', tabindex: '0', role: 'group', 'aria-label': 'Timeline', 'aria-describedby': 'timeline-help' });
  const spacer = el('div', {});
  const seen = [...new Set(lanes.flatMap((lane) => Array.from(new Set(lane.runs.part))))].sort((a, b) => a - b);
  section.append(
    el('div', { class: 'tools' },
      button('Zoom in', 'Zoom in', () => zoom(0.5)), button('Zoom out', 'Zoom out', () => zoom(2)),
      button('Reset', 'Show the whole run', reset), rangeText),
    box,
    el('div', { class: 'kinds', role: 'group', 'aria-label': 'Meaning of the colors; select one to see only its stretches' },
      seen.map((part) => el('button', { type: 'button', class: 'plain', 'data-part': part, 'aria-pressed': 'false', click: () => chooseParts([part], false) },
        el('span', { class: `swatch ${kindOf(part)}`, part }), data.parts[part].name))),
    live,
    el('p', { class: 'small soft', id: 'timeline-help' },
      'Tall is running, low is waiting. Drag to zoom into a range, Shift and drag to move; click, then use the wheel to zoom. Keys: + and − zoom, arrows move, comma and period step, 0 resets. Numbers in the margin link to findings.'),
    ...data.timeline.notes.map((note) => el('p', { class: 'small soft' }, note)));
  box.append(canvas, spacer);
  pen = canvas.getContext('2d');
  const all = TOP + lanes.length * ROW + 6;
  spacer.style.height = `${Math.max(0, all - Math.min(560, all))}px`;
  phases(section);
  readColors();
  listen();
  paint();
}
function phases(section) {
  if (!data.phases.length) return;
  section.append(el('p', { class: 'small' }, el('strong', {}, 'Phases: '),
    data.phases.map((phase) => `${phase.name} at ${quoted(phase.at)}`).join(', ')));
}
