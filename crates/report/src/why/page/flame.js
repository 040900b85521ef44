// Flame graphs: callers above what they called, each as wide as its time. Of CPU time, and of waits.

function flames() {
  if (!data.flames.length) return;
  const field = el('input', { type: 'search', 'aria-label': 'Search for functions', placeholder: 'Search' });
  const found = el('span', { class: 'small soft range', 'aria-live': 'polite' });
  const graphs = data.flames.map(flame);
  field.addEventListener('input', () => {
    const texts = graphs.map((graph) => graph.search(field.value)).filter((text) => text);
    found.textContent = texts.join(', ');
  });
  const all = el('button', { type: 'button', class: 'plain', click: () => graphs.forEach((graph) => graph.zoom(null)) }, 'Show all');
  main.append(el('section', { 'aria-labelledby': 'flames-title' },
    el('h2', { id: 'flames-title' }, 'Ways through the code'),
    el('div', { class: 'tools' }, field, all, found),
    graphs.map((graph) => graph.figure),
    el('p', { class: 'small soft' },
      'A box stands below its caller and is as wide as its time. Click or Enter zooms into one, Escape shows all; arrows move to the caller, to what it calls and to its neighbours.')));
}

function flame(tree) {
  const children = tree.steps.map(() => []);
  const roots = [];
  tree.steps.forEach(([parent], at) => (parent < 0 ? roots : children[parent]).push(at));
  const own = (list) => list.sort((a, b) => tree.steps[b][1] - tree.steps[a][1]);
  const place = tree.steps.map(() => null);
  const lay = (list, from, level) => own(list).forEach((at) => {
    place[at] = { from, level };
    lay(children[at], from, level + 1);
    from += tree.steps[at][1];
  });
  lay(roots, 0, 0);
  const nameOf = (at) => tree.names[tree.steps[at][2]];
  const textOf = (at) => `${nameOf(at)}: ${data.times ? `${time(tree.steps[at][1])}, ` : ''}${share(tree.steps[at][1] / data.whole_ns)} of the ${data.whole}`;
  const area = el('div', { class: 'flame', role: 'tree', 'aria-label': tree.title });
  const said = el('p', { class: 'small soft said', 'aria-live': 'polite' });
  const boxes = tree.steps.map(([, , , part], at) => el('div', {
    class: part === null ? `step ${tree.kind}` : `step ${kindOf(part)}`, part,
    role: 'treeitem', tabindex: '-1', title: textOf(at), 'aria-label': textOf(at), 'aria-level': place[at].level + 1, click: () => zoom(at),
  }, el('span', {}, nameOf(at))));
  let zoomed = null;
  let current = roots.length ? own(roots)[0] : null;
  const isWithin = (at, of) => { while (at >= 0 && at !== of) at = tree.steps[at][0]; return at === of; };
  const shown = (at) => zoomed === null || isWithin(at, zoomed) || isWithin(zoomed, at);
  function draw() {
    const from = zoomed === null ? 0 : place[zoomed].from;
    const whole = zoomed === null ? tree.ns : tree.steps[zoomed][1];
    let deepest = 0;
    boxes.forEach((box, at) => {
      const above = zoomed !== null && at !== zoomed && isWithin(zoomed, at);
      const wide = above ? 1 : tree.steps[at][1] / whole;
      // What is narrower than two pixels only makes the picture higher.
      box.hidden = !shown(at) || wide < 0.002;
      if (!box.hidden) deepest = Math.max(deepest, place[at].level);
      box.style.left = `${above ? 0 : 100 * (place[at].from - from) / whole}%`;
      box.style.width = `${100 * wide}%`;
      box.style.top = `${place[at].level * 21}px`;
      box.classList.toggle('above', above);
      box.setAttribute('tabindex', at === current ? '0' : '-1');
    });
    area.style.height = `${(deepest + 1) * 21}px`;
  }
  function zoom(at) {
    zoomed = at === zoomed ? null : at;
    if (at !== null) current = at;
    draw();
    said.textContent = zoomed === null ? '' : textOf(zoomed);
  }
  const visible = (list) => list.filter((at) => !boxes[at].hidden);
  function move(to) {
    if (to === undefined) return;
    current = to;
    draw();
    boxes[to].focus();
    said.textContent = textOf(to);
  }
  area.addEventListener('keydown', (event) => {
    if (current === null) return;
    const parent = tree.steps[current][0];
    const row = visible(tree.steps.map((_, at) => at).filter((at) => place[at].level === place[current].level))
      .sort((a, b) => place[a].from - place[b].from);
    const beside = row.indexOf(current);
    const actions = {
      ArrowUp: () => move(parent < 0 ? undefined : parent),
      ArrowDown: () => move(visible(children[current])[0]),
      ArrowLeft: () => move(row[beside - 1]),
      ArrowRight: () => move(row[beside + 1]),
      Enter: () => { zoom(current); boxes[current].focus(); },
      ' ': () => { zoom(current); boxes[current].focus(); },
      Escape: () => { zoomed = null; draw(); boxes[current].focus(); },
    };
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  function search(text) {
    const wanted = text.trim().toLowerCase();
    let sum = 0;
    boxes.forEach((box, at) => {
      const hit = wanted !== '' && nameOf(at).toLowerCase().includes(wanted);
      box.classList.toggle('hit', hit);
      box.classList.toggle('missed', wanted !== '' && !hit);
      let above = tree.steps[at][0];
      while (above >= 0 && !nameOf(above).toLowerCase().includes(wanted)) above = tree.steps[above][0];
      if (hit && above < 0) sum += tree.steps[at][1];
    });
    return wanted === '' ? '' : `${tree.title}: ${share(sum / data.whole_ns)}`;
  }
  area.append(...boxes);
  draw();
  const figure = el('figure', { class: 'chart' },
    el('h3', {}, `${tree.title} `, el('span', { class: 'small soft' }, `${share(tree.ns / data.whole_ns)} of the ${data.whole}`)),
    el('div', { class: 'flames' }, area), said);
  return { figure, search, zoom };
}
