// Pointer and keyboard handling of the timeline.

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
    `from ${quoted(lane.from)} to ${quoted(lane.to)}`,
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
  // Scrolling past the timeline must not zoom it: the wheel zooms only while the timeline has the focus.
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
// Moves the cursor by rows or by stretches and describes the stretch there.
function step(rows, stretches) {
  if (!cursor) {
    cursor = { row: 0, at: Math.max(0, Math.min(lanes[0].runs.size - 1, firstVisible(lanes[0].runs))) };
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
