// The section of one benchmark: its chart, its runs, all metrics, environments, and a table of the points.

const MOST_ROWS = 500;
const place = document.getElementById('part');

function table(label, heads, rows) {
  const cell = (value, kind) => (value instanceof Node ? value : Array.isArray(value) ? el('td', { class: kind, 'data-sort': value[1] }, value[0]) : el('td', { class: kind }, value));
  const made = el('table', { class: 'sortable' }, el('caption', { class: 'hidden' }, label),
    el('thead', {}, el('tr', {}, heads.map(([head, kind]) => el('th', { scope: 'col', class: kind }, head)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, row.map((value, at) => cell(value, heads[at][1]))))));
  sortable(made);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, made);
}
function metrics(data, benchmark, choose) {
  const rows = benchmark.series.map((packed) => {
    const series = seriesOf(data, packed);
    const last = series.points[series.points.length - 1];
    const earlier = series.points[series.points.length - 2];
    const text = written(last, series.unit);
    const same = earlier && earlier.environment === last.environment && earlier.value !== 0;
    const change = same ? last.value / earlier.value - 1 : null;
    const drawn = choose && (live || series.points.length > 2) ? el('button', { class: 'plain', type: 'button', click: () => choose(series.name) }, series.name) : series.name;
    return [el('td', { class: 'name', title: series.meaning }, drawn), [text.value, last.value], [text.interval || '–', last.low], change === null ? '–' : [signed(change), change], [String(last.runs), last.runs]];
  });
  return table('All metrics', [['metric', 'name'], ['last', ''], ['interval', ''], ['since the previous one', ''], ['runs', '']], rows);
}
function pointsTable(data, series) {
  const rows = series.points.slice(-MOST_ROWS).reverse().map((point) => {
    const of = measurementOf(data, point.measurement);
    const text = written(point, series.unit);
    return [of.revision + (of.dirty ? '+' : '') || '–', of.labels.join(', '), [of.time.slice(0, 16).replace('T', ' '), Date.parse(of.time)], [text.value, point.value], [text.interval || '–', point.low], [String(point.runs), point.runs], of.record];
  });
  return table('Points', [['revision', 'name'], ['labels', 'words'], ['time', ''], ['value', ''], ['interval', ''], ['runs', ''], ['record', '']], rows);
}
// A link to the numbers of the chart as a file, which is made on the click.
function rawNumbers(data, name, series) {
  const link = el('a', { href: '#', download: 'points.json' }, 'The numbers as JSON');
  const fill = () => {
    const points = series.points.map((point) => {
      const { record, time, revision, dirty, labels } = measurementOf(data, point.measurement);
      return { record, time, revision: revision || null, dirty, labels, value: point.value, low: point.low, high: point.high, runs: point.runs, environment: data.environments[point.environment] };
    });
    const text = JSON.stringify({ benchmark: name, metric: series.name, unit: series.unit, points }, null, 1);
    link.href = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
  };
  link.addEventListener('pointerenter', fill);
  link.addEventListener('focus', fill);
  return link;
}
const packedOf = (data, benchmark, metric) => benchmark.series.find((one) => data.metrics[one.metric].name === metric) || benchmark.series[0];
// Draws the section; `on` receives the user's actions.
function part(data, benchmark, metric, state, on) {
  const packed = packedOf(data, benchmark, metric);
  const series = seriesOf(data, packed);
  state.to = state.to === null ? series.total : Math.min(state.to, series.total);
  state.from = Math.max(0, Math.min(state.from, state.to - 1, live ? Infinity : series.total));
  if (!live && state.whole) state.from = series.points[0].index;
  if (state.at === null) state.at = state.to - 1;
  const picture = chart(data, series, state, on);
  const button = (text, click, pressed) => el('button', { class: 'plain', type: 'button', click, 'aria-pressed': pressed }, text);
  const tools = el('div', { class: 'tools' },
    button('Linear', () => on.log(false), String(!state.log)), button('Logarithmic', () => on.log(true), String(state.log)),
    button('Zoom in', () => on.scale(0.5)), button('Zoom out', () => on.scale(2)), button('All', () => on.zoom(0, series.total)));
  const shown = series.points.length;
  const notes = [`The band shows the interval of each median.`];
  if (series.changes.length) notes.push('A dashed line marks a lasting change of level.');
  if (shown < series.total) notes.push(`${shown.toLocaleString('en-US')} of ${series.total.toLocaleString('en-US')} points are ${live ? 'drawn: the smallest and the largest of each stretch' : 'on this page: the newest'}.`);
  notes.push('Drag to zoom; click a measurement to put it into the address.');
  const out = el('section', {},
    el('h2', { id: 'chosen', tabindex: -1 }, named(benchmark.name)),
    el('p', { class: 'soft small' }, [series.name, series.meaning].filter(Boolean).join(': ')), tools,
    el('figure', { class: 'chart' }, picture.box, el('figcaption', {}, notes.join(' '))));
  const drawn = [picture];
  const runs = (live || benchmark.series[0] === packed) && benchmark.samples;
  if (runs) {
    const spread = runs.map((one) => {
      const point = series.points.find((point) => point.index === one.index);
      const values = one.values.map((value) => value / 10 ** -one.exponent);
      return { values, median: point ? point.value : quantile(values, 0.5), name: point ? nameOf(measurementOf(data, point.measurement)).slice(0, 34) : '' };
    });
    const strip = samples(data, series, spread);
    drawn.push(strip);
    out.append(el('section', {}, el('h2', {}, runs.length > 1 ? 'Runs of the last two measurements' : 'Runs of the last measurement'),
      el('figure', { class: 'chart' }, strip.box, el('figcaption', {}, 'Top: the distribution of the runs. Bottom: each run. The dot is the median.'))));
  }
  out.append(el('section', {}, el('h2', {}, 'All metrics'), metrics(data, benchmark, on.metric)));
  const used = [...new Set(series.points.map((point) => point.environment))];
  out.append(el('section', {}, el('h2', {}, used.length > 1 ? 'Environments' : 'Environment'), el('ul', {}, used.map((one) => {
    const own = series.points.filter((point) => point.environment === one);
    const ends = [own[0], own[own.length - 1]].map((point) => measurementOf(data, point.measurement).time.slice(0, 10));
    return el('li', {}, `${data.environments[one]} (${ends[0]} to ${ends[1]})`);
  }))));
  const details = el('details', {}, el('summary', {}, `Points (${Math.min(shown, MOST_ROWS)})`));
  details.addEventListener('toggle', () => { if (details.open && details.children.length === 1) details.append(pointsTable(data, series)); });
  out.append(el('p', {}, rawNumbers(data, benchmark.name, series)), details);
  place.replaceChildren(out);
  for (const one of drawn) one.draw();
  return { redraw: () => drawn.forEach((one) => one.draw()), series };
}
