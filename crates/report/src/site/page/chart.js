// The chart of a series over its measurements: it zooms, follows the arrow keys and describes the point under the pointer.

const TOP_ROOM = 34;
const BOTTOM_ROOM = 42;
const HEIGHT = 300;
const LETTER = 7;

// Returns round numbers within [low, high], at most about `most`.
function ticks(low, high, logarithmic, most) {
  if (logarithmic) {
    const fine = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const n of [1, 2, 5]) if (n * 10 ** power >= low && n * 10 ** power <= high) fine.push(n * 10 ** power);
    }
    if (fine.length >= 2) return fine.filter((_, at) => at % Math.ceil(fine.length / most) === 0);
  }
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}
function tickTexts(values, unit) {
  const scale = scaleOf(Math.max(...values.map(Math.abs), 0), unit);
  const scaled = values.map((value) => value * scale.factor);
  const step = Math.min(...scaled.slice(1).map((value, at) => value - scaled[at]), Math.abs(scaled[0]) || 1);
  const decimals = clamp(Math.ceil(-Math.log10(step) - 1e-6), 0, 9);
  return scaled.map((value) => withUnit(grouped(value, decimals), scale.symbol));
}

// `state` is { from, to, log, at, dragged }: the visible positions, the scale, the marked point, and where the pointer
// was pressed. The state outlives the picture, so redrawing the page doesn't interrupt a drag.
function chart(data, series, state, on) {
  const box = el('div', { class: 'over-time' });
  const tip = el('p', { class: 'tip small', 'aria-hidden': 'true' });
  let points = [];
  let place = null;

  function said(point) {
    const of = measurementOf(data, point.measurement);
    const text = written(point, series.unit);
    const interval = text.interval ? `, interval ${text.interval}` : '';
    return `${nameOf(of)}, ${of.time.slice(0, 16).replace('T', ' ')}: ${text.value}${interval}, ${point.runs} ${point.runs === 1 ? 'run' : 'runs'}`;
  }
  function draw() {
    const wide = Math.max(240, box.clientWidth);
    points = series.points.filter((point) => point.index >= state.from && point.index < state.to);
    box.replaceChildren();
    if (!points.length) return;
    let low = Math.min(...points.map((point) => point.low));
    let high = Math.max(...points.map((point) => point.high));
    const logarithmic = state.log && low > 0;
    const room = high > low ? 0.05 : 0.1;
    if (logarithmic) {
      const by = (high / low) ** room * (high > low ? 1 : 1.1);
      [low, high] = [low / by, high * by];
    } else {
      const by = (high - low || Math.abs(high) || 1) * room;
      [low, high] = [low >= 0 ? Math.max(0, low - by) : low - by, high + by];
    }
    const up = ticks(low, high, logarithmic, 6);
    const texts = tickTexts(up, series.unit);
    const left = 12 + LETTER * Math.max(...texts.map((text) => text.length), 1);
    const right = wide - 10;
    const floor = HEIGHT - BOTTOM_ROOM;
    const first = state.from;
    const last = Math.max(state.to - 1, first + 1);
    const x = (index) => left + 6 + ((index - first) / (last - first)) * (right - left - 12);
    const part = (value) => (logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
    const y = (value) => floor - part(value) * (floor - TOP_ROOM);
    place = { x, y, wide };
    const svg = shape('svg', {
      class: 'plot c0', width: wide, height: HEIGHT, viewBox: `0 0 ${wide} ${HEIGHT}`, tabindex: 0, role: 'slider', 'aria-label': `${series.name} over ${points.length} measurements; arrow keys move through them, plus and minus zoom`,
      'aria-valuemin': 0, 'aria-valuemax': points.length - 1, keydown: key, pointermove: move, pointerdown: down, pointerup: release, pointercancel: () => { state.dragged = null; }, dblclick: () => on.zoom(0, series.total),
    });
    up.forEach((tick, at) => {
      svg.append(shape('line', { class: 'grid', x1: left, x2: right, y1: y(tick), y2: y(tick) }));
      svg.append(shape('text', { class: 'axis end', x: left - 6, y: y(tick) + 4 }, texts[at]));
    });
    environments(svg, x, floor);
    marks(svg, x, y, left, right, floor);
    lines(svg, x, y);
    below(svg, x, left, right, floor);
    svg.append(shape('line', { class: 'cursor', y1: TOP_ROOM, y2: floor }), shape('circle', { class: 'cursor median', r: 5 }), shape('rect', { class: 'chosen', y: TOP_ROOM, height: floor - TOP_ROOM, width: 0 }));
    box.append(svg, tip);
    show(state.at, false);
  }
  // One stretch per environment: a step between two stretches is not a change of the program.
  function stretches() {
    const found = [];
    for (const point of points) {
      const open = found[found.length - 1];
      if (open && open[0].environment === point.environment) open.push(point);
      else found.push([point]);
    }
    return found;
  }
  function environments(svg, x, floor) {
    stretches().forEach((stretch, at) => {
      if (at === 0) return;
      const edge = x(stretch[0].index - 0.5);
      svg.append(shape('line', { class: 'reported', x1: edge, x2: edge, y1: TOP_ROOM, y2: floor }, shape('title', {}, 'another environment from here on')));
    });
  }
  function marks(svg, x, y, left, right, floor) {
    let free = -Infinity;
    for (const change of series.changes) {
      if (change.index < state.from || change.index >= state.to) continue;
      const at = x(change.index - 0.5);
      const text = change.ratio === null ? 'changed' : `${change.drift ? 'drift ' : ''}${signed(change.ratio - 1)}`;
      svg.append(shape('line', { class: 'mark', x1: at, x2: at, y1: TOP_ROOM - 6, y2: floor }));
      const wide = text.length * LETTER;
      const begin = clamp(at - wide / 2, left, right - wide);
      if (begin > free) {
        svg.append(shape('text', { class: 'axis', x: begin, y: TOP_ROOM - 12 }, text));
        free = begin + wide + 8;
      }
    }
  }
  function lines(svg, x, y) {
    const at = (point, value) => `${x(point.index).toFixed(1)} ${y(value).toFixed(1)}`;
    for (const stretch of stretches()) {
      const upper = stretch.map((point) => at(point, point.high));
      const lower = stretch.map((point) => at(point, point.low)).reverse();
      svg.append(shape('path', { class: 'band', d: `M${[...upper, ...lower].join('L')}Z` }));
      svg.append(shape('path', { class: 'curve', d: `M${stretch.map((point) => at(point, point.value)).join('L')}` }));
    }
    // A line of zero length with round ends is a dot, so one element draws all dots.
    if (points.length <= 400) svg.append(shape('path', { class: 'dots', d: points.map((point) => `M${at(point, point.value)}h0`).join('') }));
  }
  // Versions above, dates (or times within one day) below, as many as fit.
  function below(svg, x, left, right, floor) {
    const row = (height, textOf) => {
      let free = -Infinity;
      for (const point of points) {
        const text = textOf(measurementOf(data, point.measurement));
        if (!text) continue;
        const wide = text.length * LETTER;
        const begin = clamp(x(point.index) - wide / 2, left, right - wide);
        if (begin <= free) continue;
        svg.append(shape('text', { class: 'axis', x: begin, y: height }, text));
        free = begin + wide + 24;
      }
    };
    row(floor + 16, (of) => of.labels[0] || '');
    const days = [points[0], points[points.length - 1]].map((point) => measurementOf(data, point.measurement).time.slice(0, 10));
    row(floor + 34, (of) => (days[0] === days[1] ? of.time.slice(11, 16) : of.time.slice(0, 10)));
  }
  function show(index, told) {
    if (!points.length || !place) return;
    let at = points.findIndex((point) => point.index >= index);
    if (at < 0) at = points.length - 1;
    const point = points[at];
    state.at = point.index;
    const svg = box.querySelector('svg');
    const [line, circle] = svg.querySelectorAll('.cursor');
    const x = place.x(point.index).toFixed(1);
    for (const name of ['x1', 'x2']) line.setAttribute(name, x);
    circle.setAttribute('cx', x);
    circle.setAttribute('cy', place.y(point.value).toFixed(1));
    svg.setAttribute('aria-valuenow', at);
    svg.setAttribute('aria-valuetext', said(point));
    tip.textContent = said(point);
    if (told) on.at(point);
  }
  function near(event) {
    const from = box.querySelector('svg').getBoundingClientRect().left;
    const at = event.clientX - from;
    return points.reduce((best, point) => (Math.abs(place.x(point.index) - at) < Math.abs(place.x(best.index) - at) ? point : best));
  }
  function move(event) {
    const point = near(event);
    show(point.index, false);
    if (!event.buttons) state.dragged = null;
    if (state.dragged === null) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const chosen = box.querySelector('.chosen');
    const [from, to] = [place.x(Math.min(state.dragged, point.index)), place.x(Math.max(state.dragged, point.index))];
    chosen.setAttribute('x', from);
    chosen.setAttribute('width', to - from);
  }
  function down(event) { state.dragged = near(event).index; }
  function release(event) {
    const point = near(event);
    const from = state.dragged;
    state.dragged = null;
    if (from !== null && Math.abs(point.index - from) > 1) on.zoom(Math.min(from, point.index), Math.max(from, point.index) + 1);
    else show(point.index, true);
  }
  function key(event) {
    const at = points.findIndex((point) => point.index === state.at);
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageUp: at - 10, PageDown: at + 10, Home: 0, End: points.length - 1 }[event.key];
    if (to !== undefined) show(points[clamp(to, 0, points.length - 1)].index, false);
    else if (event.key === 'Enter') show(state.at, true);
    else if (event.key === '+' || event.key === '-') on.scale(event.key === '+' ? 0.5 : 2);
    else return;
    event.preventDefault();
  }
  return { box, draw };
}
