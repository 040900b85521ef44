// Which benchmark is shown: the address says so, `#benchmark/revision`.

{
  let state = { from: 0, to: null, log: false, at: null, whole: true };
  let current = null;
  let metric = null;
  let drawn = null;
  let asked = 0;
  const names = live ? new Map(live.names) : null;

  function wanted() {
    const [name, revision] = location.hash.slice(1).split('/').map((text) => { try { return decodeURIComponent(text); } catch { return text; } });
    return { name: name || '', revision: revision || '' };
  }
  const first = () => (live ? live.names[0] && live.names[0][0] : data.benchmarks[0] && data.benchmarks[0].name);
  const on = {
    at(point) {
      const of = measurementOf(data, point.measurement);
      history.replaceState(null, '', `#${encodeURIComponent(current)}/${encodeURIComponent(of.revision || of.record)}`);
    },
    zoom(from, to) { Object.assign(state, { from, to, whole: from === 0 && to === drawn.series.total }); show(); },
    scale(by) {
      const half = ((state.to - state.from) * by) / 2;
      const middle = clamp(state.at, state.from, state.to);
      const total = drawn.series.total;
      const from = Math.round(clamp(middle - half, 0, total - 1));
      on.zoom(from, Math.round(clamp(middle + half, from + 2, total)));
    },
    log(value) { state.log = value; show(); },
    metric(name) { metric = name; state = { ...state, from: 0, to: null, at: null, whole: true }; show(); },
  };
  async function load() {
    const query = new URLSearchParams({ of: names.get(current), from: state.from, to: state.to === null ? 1e9 : state.to, most: Math.max(200, Math.min(2000, place.clientWidth)) });
    if (metric) query.set('metric', metric);
    const answer = await fetch(`part?${query}`);
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.json();
  }
  async function show() {
    const number = (asked += 1);
    const focused = document.activeElement && place.contains(document.activeElement) ? [...place.querySelectorAll('button, a, summary, [tabindex]')].indexOf(document.activeElement) : -1;
    if (live) {
      try {
        const found = await load();
        if (number !== asked) return;
        data = found;
        data.benchmarks[0].name = current;
      } catch (error) {
        place.replaceChildren(el('p', { class: 'strip warn' }, `Fathom doesn't answer (${error.message}). Is \`fathom ui\` still running?`));
        return;
      }
    }
    const benchmark = data.benchmarks.find((one) => one.name === current);
    if (!benchmark) {
      place.replaceChildren(el('p', { class: 'strip warn' }, `There is no benchmark ${current} here.`));
      return;
    }
    const { revision } = wanted();
    if (revision && state.at === null) {
      const series = seriesOf(data, benchmark.series[0]);
      const point = series.points.find((point) => { const of = measurementOf(data, point.measurement); return of.revision.startsWith(revision.slice(0, 12)) || of.record.startsWith(revision) || of.labels.includes(revision); });
      if (point) state.at = point.index;
    }
    drawn = part(data, benchmark, metric, state, on);
    if (focused >= 0) [...place.querySelectorAll('button, a, summary, [tabindex]')][focused]?.focus();
  }
  async function choose(scroll) {
    const name = wanted().name || first();
    if (!name) return;
    if (name !== current) {
      current = name;
      metric = null;
      state = { from: 0, to: null, log: state.log, at: null, whole: true };
    } else state.at = null;
    await show();
    if (scroll) document.getElementById('chosen')?.scrollIntoView();
  }
  // Only rows that have the words; only those that changed.
  function tools() {
    const box = document.getElementById('tools');
    const rows = () => [...document.querySelectorAll('#overview tbody tr')];
    if (!box || rows().length < 2) return;
    const input = el('input', { type: 'search', id: 'filter', placeholder: 'Name', input: filter });
    const changed = el('button', { class: 'plain', type: 'button', 'aria-pressed': 'false', click: () => { changed.setAttribute('aria-pressed', String(changed.getAttribute('aria-pressed') !== 'true')); filter(); } }, 'Only what changed');
    const count = el('span', { class: 'soft small', role: 'status' });
    function filter() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = changed.getAttribute('aria-pressed') === 'true';
      let shown = 0;
      for (const row of rows()) {
        const text = row.cells[0].textContent.toLowerCase();
        const fits = words.every((word) => text.includes(word)) && (!only || row.querySelector('.good, .bad'));
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      count.textContent = `${shown} of ${rows().length}`;
    }
    box.replaceChildren(el('label', { for: 'filter' }, 'Filter'), input, changed, count);
    filter();
    return filter;
  }
  // The server answers once something was saved, or after a while.
  async function follow() {
    for (let pause = 0; ; ) {
      try {
        if (pause) await new Promise((done) => setTimeout(done, pause));
        const answer = await fetch(`changes?since=${encodeURIComponent(live.mark)}`);
        if (!answer.ok) throw new Error(`${answer.status}`);
        const { mark } = await answer.json();
        pause = 0;
        if (mark === live.mark) continue;
        const page = new DOMParser().parseFromString(await (await fetch('.')).text(), 'text/html');
        const fresh = JSON.parse(page.getElementById('data').textContent).live;
        Object.assign(live, fresh);
        names.clear();
        for (const [link, name] of fresh.names) names.set(link, name);
        const words = document.getElementById('filter')?.value || '';
        for (const part of ['header', '#overview']) document.querySelector(part).replaceWith(page.querySelector(part));
        for (const table of document.querySelectorAll('#overview table.sortable')) sortable(table);
        const filter = tools();
        if (filter) { document.getElementById('filter').value = words; filter(); }
        if (state.whole) state.to = null;
        await choose(false);
      } catch {
        pause = 2000;
      }
    }
  }
  tools();
  window.addEventListener('hashchange', () => choose(true));
  let wide = 0;
  new ResizeObserver(() => { if (drawn && place.clientWidth !== wide) { wide = place.clientWidth; drawn.redraw(); } }).observe(place);
  choose(Boolean(location.hash));
  if (live) follow();
}
