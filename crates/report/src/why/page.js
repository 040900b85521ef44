'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('main');
  const tip = document.getElementById('tip');

  // Texts only ever become text nodes and attributes that can't act.
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === 'part') node.style.setProperty('--part', colorOf(value));
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
  const colorOf = (part) => (part === null ? 'var(--p20)' : `var(--p${part})`);
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
  // Times of a run that was slowed down too much are those of the observer: shares stand for them.
  const quoted = (ns) => (data.times ? time(ns) : share(data.run_ns ? ns / data.run_ns : 0));
  const count = (value) => value.toLocaleString('en-US');
  function bytes(value) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (value >= 1023.5 && unit < units.length - 1) {
      value /= 1024;
      unit += 1;
    }
    return `${unit === 0 ? Math.round(value) : digits(value, 3)} ${units[unit]}`;
  }

  // Header ------------------------------------------------------------------------------------------

  function tile(label, value, note, name) {
    return el('div', { class: `tile ${name || ''}` },
      el('div', { class: 'label' }, label),
      el('div', { class: 'value' }, value),
      note ? el('div', { class: 'small soft' }, note) : null);
  }
  function strip(kind, label, texts) {
    return texts.map((text) => el('p', { class: `strip ${kind}` }, el('strong', {}, label), text));
  }
  function header() {
    document.title = `fathom why: ${data.command}`;
    const comma = data.wall.indexOf(', ');
    const [median, interval] = comma < 0 ? [data.wall, ''] : [data.wall.slice(0, comma), `${data.wall.slice(comma + 2)}; `];
    const quiet = data.times ? '' : '; over 1.1x, so only its counts and shares are quoted';
    main.append(el('header', {},
      el('p', { class: 'above' }, 'fathom why'),
      el('h1', { class: 'mono' }, data.command),
      el('p', { class: 'small soft' }, [...data.machine, data.made_by].join(' · ')),
      el('div', { class: 'tiles' },
        tile('Median wall time', median, `${interval}${data.runs}`, 'main'),
        tile('Median CPU time', data.cpu, data.floor ? `running nothing takes ${data.floor}` : null),
        tile('Peak memory', data.memory),
        tile('Findings', data.findings.length || 'none', data.findings.length ? 'most to win first' : 'nothing stands out')),
      strip('', 'Explained', [`by a run of its own, ${data.explained}, ${data.slowdown}${quiet}.`]),
      data.end ? strip('bad', 'Ended', [data.end]) : null,
      strip('bad', 'Lost', data.lost),
      strip('warn', 'Warning', data.warnings),
      data.not_visible.length ? strip('', 'Not seen', [data.not_visible.join(' ')]) : null));
  }

  // Account -----------------------------------------------------------------------------------------

  function account() {
    const whole = data.times ? `of ${time(data.account.reduce((sum, one) => sum + one.ns, 0))} in the explaining run` : 'shares of the explaining run';
    const bar = el('div', { class: 'bar', role: 'group', 'aria-label': 'Where the time goes' });
    for (const one of data.account) {
      const thin = one.share < 0.045;
      const label = one.part === null ? 'other' : one.share < 0.27 ? data.parts[one.part].short : one.name;
      const text = `${one.name}: ${data.times ? `${time(one.ns)}, ` : ''}${share(one.share)}`;
      const piece = el('button', {
        type: 'button', class: `${kindOf(one.part)} ${thin ? 'thin' : ''}`, part: one.part, title: text, 'aria-label': text,
        click: () => one.part !== null && chooseParts([one.part], true),
      }, thin ? null : el('span', {}, one.share < 0.075 ? label : `${label} ${share(one.share)}`));
      piece.style.flexGrow = String(Math.max(one.share, 0.001));
      bar.append(piece);
    }
    const list = data.account.map((one) => el('li', {},
      el('span', { class: `swatch ${kindOf(one.part)}`, part: one.part }),
      el('span', {}, one.name),
      el('span', { class: 'number' }, data.times ? time(one.ns) : ''),
      el('strong', { class: 'number' }, share(one.share))));
    main.append(el('section', { 'aria-labelledby': 'account-title' },
      el('h2', { id: 'account-title' }, 'Where the time goes ', el('span', { class: 'small soft' }, whole)),
      data.account.length ? [bar, el('ul', { class: 'legend' }, list)] : el('p', { class: 'soft' }, 'The account is empty.')));
  }

  // Findings ----------------------------------------------------------------------------------------

  function card(finding, index) {
    const facts = [...finding.evidence];
    if (finding.limit) facts.push(['limit', finding.limit]);
    if (finding.place.length) facts.push(['where', finding.place.join(', ')]);
    const meter = el('i', {});
    meter.style.width = `${Math.min(100, finding.share * 100)}%`;
    return el('article', { class: 'card', id: `finding-${index + 1}`, tabindex: '-1', 'aria-labelledby': `finding-title-${index + 1}` },
      el('div', { class: 'head' },
        el('span', { class: 'badge', 'aria-hidden': 'true' }, index + 1),
        el('h3', { class: 'mono', id: `finding-title-${index + 1}` }, finding.id),
        el('span', { class: 'chip' }, `${share(finding.share)} of the time`),
        finding.likely ? el('span', { class: 'chip' }, 'likely') : null),
      el('div', { class: 'meter', 'aria-hidden': 'true' }, meter),
      finding.win ? el('p', { class: 'win' }, finding.win.charAt(0).toUpperCase() + finding.win.slice(1)) : null,
      el('p', {}, finding.statement),
      el('p', { class: 'advice' }, finding.advice),
      facts.length ? el('dl', { class: 'facts' }, facts.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])) : null,
      drawn() ? el('button', { type: 'button', class: 'plain show', 'aria-pressed': 'false', click: () => chooseFinding(index) }, 'Show on the timeline') : null);
  }
  function findings() {
    const largest = data.account.slice(0, 3).map((one) => `${one.name} (${share(one.share)})`).join(', ');
    main.append(el('section', { 'aria-labelledby': 'findings-title' },
      el('h2', { id: 'findings-title' }, data.findings.length ? 'Findings' : 'Nothing stands out'),
      data.findings.length
        ? el('div', { class: 'cards' }, data.findings.map(card))
        : el('p', {}, largest ? `The time goes to ${largest}.` : '')));
  }

  // Timeline ----------------------------------------------------------------------------------------

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

  // Which stretches belong to a finding: those of its place and of its parts, and of its path if any says so.
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
  // Brings the first lane and the extent of what was chosen into view.
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

  // Colour says which part; height and pattern say which kind: readable without colour.
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
      // What is narrower than a pixel would else be painted thousands of times.
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
    const unit = step >= 1e9 ? [1e9, 's'] : step >= 1e6 || view.to >= 1e7 ? [1e6, 'ms'] : step >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
    const [size, symbol] = data.times ? unit : [data.run_ns / 100, '%'];
    const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
      const px = x(at);
      pen.fillStyle = colors.line;
      pen.fillRect(px, TOP - 6, 1, height);
      const text = `${(at / size).toFixed(Math.min(6, decimals))} ${symbol}`;
      if (px + pen.measureText(text).width + 4 > width) break;
      pen.fillStyle = colors.soft;
      pen.fillText(text, px + 3, TOP - 12);
    }
  }
  function drawPhases() {
    pen.font = `600 11px ${SANS}`;
    // Two rows of labels, each at its line; what has no room is in the list below and under the pointer.
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

  function describe(lane, at) {
    const runs = lane.runs;
    const length = runs.to[at] - runs.from[at];
    const info = data.parts[runs.part[at]];
    const detail = runs.detail[at];
    const thread = lane.pid === lane.tid ? '' : `, thread ${lane.tid}`;
    return [
      detail < 0 ? `${count(-detail)} short stretches, mostly ${info.name}` : info.name,
      detail > 0 ? data.timeline.details[detail - 1] : null,
      `${quoted(length)}, from ${quoted(runs.from[at])} to ${quoted(runs.to[at])}`,
      `${lane.name || 'process'} ${lane.pid}${thread}`,
    ].filter(Boolean);
  }
  function describeLane(lane) {
    return [
      `${lane.name || 'process'} ${lane.pid}${lane.pid === lane.tid ? '' : `, thread ${lane.tid}`}`,
      lane.process || null,
      `lived from ${quoted(lane.from)} to ${quoted(lane.to)}`,
      lane.head && lane.end ? lane.end : null,
    ].filter(Boolean);
  }
  function showTip(lines, left, top) {
    tip.replaceChildren(el('b', {}, lines[0]), ...lines.slice(1).map((line) => el('div', {}, line)));
    tip.hidden = false;
    const area = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(left + 14, window.innerWidth - area.width - 8))}px`;
    tip.style.top = `${top + area.height + 24 > window.innerHeight ? Math.max(4, top - area.height - 12) : top + 16}px`;
  }
  function hit(event) {
    const area = canvas.getBoundingClientRect();
    const px = event.clientX - area.left;
    const py = event.clientY - area.top;
    const row = py < TOP ? -1 : Math.floor((py - TOP - 3 + box.scrollTop) / ROW);
    const lane = lanes[row];
    let at = -1;
    if (lane && px >= gutter) {
      const ns = timeAt(px);
      const near = (view.to - view.from) / (width - gutter) * 1.5;
      const runs = lane.runs;
      let low = 0;
      let high = runs.size;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (runs.to[middle] < ns) low = middle + 1;
        else high = middle;
      }
      if (low < runs.size && runs.from[low] <= ns + near) at = low;
      else if (low > 0 && runs.to[low - 1] >= ns - near) at = low - 1;
    }
    return { px, py, row, lane, at };
  }
  function hover(event) {
    const { px, py, lane, at } = hit(event);
    const near = py < TOP ? phasesAt(px) : [];
    if (near.length) {
      showTip(near.map((phase) => `${phase.name} at ${quoted(phase.at)}`), event.clientX, event.clientY);
      return;
    }
    if (!lane) { tip.hidden = true; return; }
    if (px < gutter || at < 0) {
      if (px < gutter || (timeAt(px) >= lane.from && timeAt(px) <= lane.to)) showTip(describeLane(lane), event.clientX, event.clientY);
      else tip.hidden = true;
      return;
    }
    showTip(describe(lane, at), event.clientX, event.clientY);
  }
  function clickBadge(place) {
    if (!place.lane || place.px >= gutter) return false;
    const badges = badgesOf(place.lane);
    const index = badges.findIndex((_, at) => Math.abs(place.px - (gutter - 14 - (badges.length - 1 - at) * 19)) <= 9);
    if (index < 0) return false;
    const node = document.getElementById(`finding-${badges[index] + 1}`);
    if (chosenFinding !== badges[index]) {
      chosenFinding = badges[index];
      chosenParts = null;
      chosen = matcher(data.findings[badges[index]]);
      markChosen();
      draw();
    }
    node.scrollIntoView({ block: 'center' });
    node.focus({ preventScroll: true });
    return true;
  }
  function listen() {
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      const place = hit(event);
      if (clickBadge(place)) { event.preventDefault(); return; }
      if (place.px < gutter) return;
      drag = { start: place.px, now: place.px, moved: false, pan: event.shiftKey, from: view.from, to: view.to };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) { hover(event); return; }
      drag.now = Math.max(gutter, hit(event).px);
      drag.moved = drag.moved || Math.abs(drag.now - drag.start) > 4;
      tip.hidden = true;
      if (drag.pan) {
        const step = (drag.start - drag.now) / (width - gutter - 8) * (drag.to - drag.from);
        setView(drag.from + step, drag.to + step);
      }
      draw();
    });
    canvas.addEventListener('pointerup', (event) => {
      const done = drag;
      drag = null;
      if (!done) return;
      if (done.moved && !done.pan) {
        setView(timeAt(Math.min(done.start, done.now)), timeAt(Math.max(done.start, done.now)));
      } else if (!done.moved) {
        const place = hit(event);
        cursor = place.at >= 0 ? { row: place.row, at: place.at } : null;
        speak();
      }
      draw();
    });
    canvas.addEventListener('pointercancel', () => { drag = null; draw(); });
    canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
    canvas.addEventListener('dblclick', () => { setView(0, data.run_ns); draw(); });
    // A page that is only scrolled past must not zoom: the wheel zooms once the timeline has the focus.
    canvas.addEventListener('wheel', (event) => {
      const wanted = event.ctrlKey || event.metaKey || document.activeElement === box;
      if (!wanted || hit(event).px < gutter) return;
      const whole = view.to - view.from >= data.run_ns * 0.9999;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / 800);
        return;
      }
      if (whole && event.deltaY > 0 && !event.ctrlKey) return;
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), timeAt(hit(event).px));
    }, { passive: false });
    box.addEventListener('scroll', () => { tip.hidden = true; draw(); });
    box.addEventListener('keydown', key);
    window.addEventListener('resize', draw);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColors(); draw(); });
  }
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      '+': () => zoom(0.6), '=': () => zoom(0.6), '-': () => zoom(1 / 0.6), _: () => zoom(1 / 0.6),
      ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
      ArrowUp: () => step(-1, 0), ArrowDown: () => step(1, 0), ',': () => step(0, -1), '.': () => step(0, 1),
      0: reset, Home: reset, Escape: reset,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
  function reset() {
    setView(0, data.run_ns);
    chosen = null;
    chosenFinding = null;
    chosenParts = null;
    cursor = null;
    tip.hidden = true;
    markChosen();
    draw();
  }
  // Moves the cursor by rows or by stretches, and says what is there.
  function step(rows, stretches) {
    if (!cursor) {
      cursor = { row: 0, at: firstVisible(lanes[0].runs) };
    } else {
      const row = Math.min(lanes.length - 1, Math.max(0, cursor.row + rows));
      const at = rows ? firstVisible(lanes[row].runs) : cursor.at + stretches;
      cursor = { row, at: Math.min(lanes[row].runs.size - 1, Math.max(0, at)) };
    }
    const runs = lanes[cursor.row].runs;
    if (runs.size && (runs.to[cursor.at] < view.from || runs.from[cursor.at] > view.to)) {
      const half = (view.to - view.from) / 2;
      setView(runs.from[cursor.at] - half, runs.from[cursor.at] + half);
    }
    const top = cursor.row * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW * 2 + TOP > box.scrollTop + height) box.scrollTop = top + ROW * 2 + TOP - height;
    speak();
    draw();
  }
  function speak() {
    if (!cursor) { live.textContent = ''; return; }
    const lane = lanes[cursor.row];
    live.textContent = (lane.runs.size ? describe(lane, cursor.at) : describeLane(lane)).join('; ');
  }
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
    canvas = el('canvas', { role: 'img', 'aria-label': `Timeline of ${lanes.length} threads. Arrow keys, comma and full stop step through it and say what is there.` });
    box = el('div', { id: 'timeline', tabindex: '0', role: 'group', 'aria-label': 'Timeline', 'aria-describedby': 'timeline-help' });
    const spacer = el('div', {});
    const seen = [...new Set(lanes.flatMap((lane) => Array.from(new Set(lane.runs.part))))].sort((a, b) => a - b);
    section.append(
      el('div', { class: 'tools' },
        button('Zoom in', 'Zoom in', () => zoom(0.5)), button('Zoom out', 'Zoom out', () => zoom(2)),
        button('Reset', 'Show the whole run', reset), rangeText),
      box,
      el('div', { class: 'kinds', role: 'group', 'aria-label': 'What the colours mean; choose one to see only that' },
        seen.map((part) => el('button', { type: 'button', class: 'plain', 'data-part': part, 'aria-pressed': 'false', click: () => chooseParts([part], false) },
          el('span', { class: `swatch ${kindOf(part)}`, part }), data.parts[part].name))),
      live,
      el('p', { class: 'small soft', id: 'timeline-help' },
        'Tall is running, low is waiting. Drag to zoom into a range, Shift and drag to move; click, then turn the wheel to zoom. Keys: + and − zoom, arrows move, comma and full stop step, 0 resets. Numbers in the margin lead to findings.'),
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
    section.append(el('p', { class: 'small' }, el('strong', {}, 'Course: '),
      data.phases.map((phase) => `${phase.name} at ${quoted(phase.at)}`).join(', ')));
  }

  // Tables ------------------------------------------------------------------------------------------

  // Columns: title, value to sort by, text. The first is the name; clicking a title sorts.
  function table(label, columns, rows) {
    const body = el('tbody', {});
    const heads = columns.map(([title], column) => el('th', { scope: 'col', 'aria-sort': 'none' },
      el('button', { type: 'button', click: () => sort(column) }, title)));
    let sorted = -1;
    let down = true;
    function sort(column) {
      down = column === sorted ? !down : column !== 0;
      sorted = column;
      const value = columns[column][1];
      rows.sort((a, b) => {
        const [left, right] = [value(a), value(b)];
        const order = typeof left === 'string' ? left.localeCompare(right) : left - right;
        return down ? -order : order;
      });
      heads.forEach((head, at) => head.setAttribute('aria-sort', at !== column ? 'none' : down ? 'descending' : 'ascending'));
      fillBody();
    }
    function fillBody() {
      body.replaceChildren(...rows.map((row) => el('tr', {}, columns.map(([, value, text], at) =>
        el('td', { class: at === 0 ? 'mono' : null }, text ? text(row) : value(row))))));
    }
    fillBody();
    return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
      el('table', {}, el('caption', { class: 'hidden' }, label), el('thead', {}, el('tr', {}, heads)), body));
  }
  function tables() {
    const blocked = (row) => (row.blocked === null ? -1 : row.blocked);
    const orDash = (of) => (row) => (of(row) < 0 ? '–' : quoted(of(row)));
    const each = (row) => (row.calls ? row.bytes / row.calls : 0);
    const shared = [
      ['Calls', (row) => row.calls, (row) => count(row.calls)],
      ['Bytes', (row) => row.bytes, (row) => bytes(row.bytes)],
      ['Per call', each, (row) => (each(row) ? bytes(each(row)) : '–')],
      ['Time', (row) => row.total, (row) => quoted(row.total)],
      ['Blocked', blocked, orDash(blocked)],
    ];
    const errors = ['Errors', (row) => row.errors, (row) => count(row.errors)];
    const several = new Set(data.io.map((row) => row.pid)).size > 1;
    if (data.io.length) {
      const name = (row) => (row.fd === null ? row.name : `${row.fd}  ${row.name}`);
      main.append(el('section', { 'aria-labelledby': 'io-title' },
        el('h2', { id: 'io-title' }, 'Read and written'),
        table('Input and output by descriptor and path', [
          ['Descriptor, path', name],
          ...(several ? [['Process', (row) => row.pid]] : []),
          ...shared, ['Seeks', (row) => row.seeks, (row) => count(row.seeks)], errors], data.io)));
    }
    if (data.calls.length) {
      main.append(el('section', { 'aria-labelledby': 'calls-title' },
        el('h2', { id: 'calls-title' }, 'System calls'),
        table('System calls', [['Call', (row) => row.name], ...shared, errors], data.calls)));
    }
    main.append(...data.notes.map((note) => el('p', { class: 'small soft' }, note)));
  }

  header();
  account();
  findings();
  timeline();
  tables();
})();
