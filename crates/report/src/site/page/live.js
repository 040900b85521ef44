// Requests of the live page to its server.

// Which rows of the overview are shown.
const view = { words: '', changed: false, page: live ? live.page : 0 };
let listed = 0;

async function asked(what, query) {
  const answer = await fetch(`${what}?${new URLSearchParams(query)}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer;
}
// Fetches as many points of a metric as the picture has room for, including the point of a revision.
async function partOf(name, metric, state, revision) {
  const query = { of: name, from: state.from, to: state.to === null ? 1e9 : state.to, most: clamp(place.clientWidth, 200, 2000) };
  if (metric) query.metric = metric;
  if (revision) query.at = revision;
  return (await asked('part', query)).json();
}
const parsed = (text) => new DOMParser().parseFromString(text, 'text/html');
// Replaces the header and the rows with the current ones; keeps the sorting and the focus.
async function refresh() {
  const number = (listed += 1);
  const query = { words: view.words, page: view.page };
  if (view.changed) query.changed = 1;
  const page = parsed(await (await asked('.', query)).text());
  if (number !== listed) return;
  Object.assign(live, JSON.parse(page.getElementById('data').textContent).live);
  const head = document.querySelector('#rows th[aria-sort$="ending"]');
  const focus = document.activeElement?.closest('#rows a');
  for (const part of ['header', '#rows']) document.querySelector(part).replaceWith(page.querySelector(part));
  const table = document.querySelector('#rows table');
  if (table) sortable(table);
  const button = table && head && table.tHead.rows[0].cells[head.cellIndex].querySelector('button');
  for (let clicks = head && head.getAttribute('aria-sort') === 'descending' ? 2 : 1; button && clicks; clicks -= 1) button.click();
  if (focus) [...document.querySelectorAll('#rows a')].find((link) => link.getAttribute('href') === focus.getAttribute('href'))?.focus({ preventScroll: true });
}
async function versions() {
  const box = document.getElementById('versions');
  box.replaceChildren(...parsed(await (await asked('versions', {})).text()).body.childNodes);
  for (const table of box.querySelectorAll('table.sortable')) sortable(table);
}
// Polls for changes: the server answers once a record is saved, or after a timeout.
async function follow(changed) {
  const silent = el('p', { class: 'strip warn', role: 'status' }, 'Fathom doesn\'t answer. Is `fathom ui` still running?');
  for (let pause = 0; ; ) {
    try {
      if (pause) await new Promise((done) => { setTimeout(done, pause); });
      const { mark } = await (await asked('changes', { since: live.mark })).json();
      silent.remove();
      pause = 0;
      if (mark === live.mark) continue;
      await refresh();
      await changed();
      await versions();
    } catch {
      document.querySelector('header').after(silent);
      pause = 2000;
    }
  }
}
