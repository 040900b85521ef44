// The address selects the benchmark that is shown: `#benchmark/revision/metric`.

{
  const fresh = () => ({ from: 0, to: null, log: false, at: null, dragged: null, whole: true });
  let state = fresh();
  let current = null;
  let metric = null;
  let drawn = null;
  let number = 0;

  function wanted() {
    const [name, revision, chosen] = location.hash.slice(1).split('/').map((text) => { try { return decodeURIComponent(text); } catch { return text; } });
    return { name: name || '', revision: revision || '', metric: chosen || null };
  }
  const first = () => (live ? live.first : data.benchmarks[0] && data.benchmarks[0].name);
  function address(revision) {
    const parts = metric ? [current, revision, metric] : [current, revision];
    history.replaceState(null, '', `#${parts.map(encodeURIComponent).join('/').replace(/\/$/, '')}`);
  }
  const mainOf = () => data.metrics[data.benchmarks.find((one) => one.name === current).series[0].metric].name;
  const on = {
    at(point) {
      const of = measurementOf(data, point.measurement);
      address(of.revision || of.record);
    },
    zoom(from, to) { Object.assign(state, { from, to, whole: from === 0 && to === drawn.series.total }); show(); },
    scale(by) {
      const { total } = drawn.series;
      const wide = clamp(Math.round((state.to - state.from) * by), Math.min(2, total), total);
      const from = clamp(Math.round(clamp(state.at, state.from, state.to) - wide / 2), 0, total - wide);
      on.zoom(from, from + wide);
    },
    log(value) { state.log = value; show(); },
    metric(name) { metric = name === mainOf() ? null : name; state = { ...fresh(), log: state.log }; address(wanted().revision); show(); },
  };
  const controls = () => [...place.querySelectorAll('button, a, summary, [tabindex]')];
  async function show() {
    const own = (number += 1);
    const { revision } = wanted();
    if (live) {
      try {
        const found = await partOf(current, metric, state, state.at === null && revision);
        if (own !== number) return;
        data = found;
        data.benchmarks[0].name = current;
      } catch (error) {
        place.replaceChildren(el('p', { class: 'strip warn' }, error.message === '404' ? ['There is no benchmark ', named(current), ' here.'] : `Fathom doesn't answer (${error.message}).`));
        return;
      }
    }
    const benchmark = data.benchmarks.find((one) => one.name === current);
    if (!benchmark) {
      place.replaceChildren(el('p', { class: 'strip warn' }, 'There is no benchmark ', named(current), ' here.'));
      return;
    }
    if (revision && state.at === null) {
      const series = seriesOf(data, packedOf(data, benchmark, metric));
      const point = series.points.find((point) => { const of = measurementOf(data, point.measurement); return of.revision.startsWith(revision.slice(0, 12)) || of.record.startsWith(revision) || of.labels.includes(revision); });
      if (point) state.at = point.index;
    }
    const focused = place.contains(document.activeElement) ? controls().indexOf(document.activeElement) : -1;
    drawn = part(data, benchmark, metric, state, on);
    // Restore the focus without scrolling the page.
    if (focused >= 0) controls()[focused]?.focus({ preventScroll: true });
  }
  async function choose(scroll) {
    const { name, metric: chosen } = wanted();
    const next = name || first();
    if (!next) return;
    if (next !== current || chosen !== metric) state = { ...fresh(), log: state.log };
    else state.at = null;
    current = next;
    metric = chosen;
    await show();
    if (scroll) document.getElementById('chosen')?.scrollIntoView();
  }
  // Filters the rows by words and by change. A file contains all rows; a live page asks the server.
  const rows = () => [...document.querySelectorAll('#rows tbody tr')];
  const count = el('span', { class: 'soft small', role: 'status' });
  async function filter() {
    if (live) await refresh().catch(() => {});
    else {
      const words = view.words.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows()) {
        const text = row.cells[0].textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word)) || (view.changed && !row.querySelector('.good, .bad'));
      }
    }
    counted();
  }
  function counted() {
    const all = rows();
    count.textContent = live ? `${live.found} of ${live.all}` : `${all.filter((row) => !row.hidden).length} of ${all.length}`;
  }
  function tools() {
    const box = document.getElementById('tools');
    if (!box || box.children.length || (live ? live.all : rows().length) < 2) return;
    const input = el('input', { type: 'search', id: 'filter', placeholder: 'Name', input: () => { Object.assign(view, { words: input.value, page: 0 }); filter(); } });
    const changed = el('button', { class: 'plain', type: 'button', 'aria-pressed': 'false', click: () => {
      Object.assign(view, { changed: !view.changed, page: 0 });
      changed.setAttribute('aria-pressed', String(view.changed));
      filter();
    } }, 'Changed only');
    box.append(el('label', { for: 'filter' }, 'Filter'), input, changed, count);
    counted();
  }
  tools();
  window.addEventListener('hashchange', () => choose(true));
  let wide = 0;
  new ResizeObserver(() => { if (drawn && place.clientWidth !== wide) { wide = place.clientWidth; drawn.redraw(); } }).observe(place);
  choose(Boolean(location.hash));
  if (live) {
    document.addEventListener('click', (event) => {
      const link = event.target.closest('nav.pages a');
      if (!link) return;
      event.preventDefault();
      view.page = Number(new URL(link.href).searchParams.get('page'));
      filter().then(() => document.getElementById('overview').scrollIntoView());
    });
    versions().catch(() => {});
    follow(async () => {
      tools();
      counted();
      if (state.whole) state.to = null;
      if (drawn && state.at >= drawn.series.total - 1) state.at = null;
      await show();
    });
  }
}
