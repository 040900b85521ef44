// Flame graphs: a callee is below its caller, and each box is as wide as its time.

// The graphs with their shared tools: a field that searches for functions, and a button that shows everything again.
function flameSection(title, graphs, note, tools) {
  const field = el('input', { type: 'search', 'aria-label': 'Search for functions', placeholder: 'Search' });
  const found = el('span', { class: 'small soft range', 'aria-live': 'polite' });
  field.addEventListener('input', () => {
    const texts = graphs.map((graph) => graph.search(field.value)).filter((text) => text);
    found.textContent = texts.join(', ');
  });
  const all = el('button', { type: 'button', class: 'plain', click: () => graphs.forEach((graph) => graph.zoom(null)) }, 'Show all');
  main.append(el('section', { 'aria-labelledby': 'flames-title' },
    el('h2', { id: 'flames-title' }, title),
    el('div', { class: 'tools' }, tools, field, all, found),
    graphs.map((graph) => graph.figure),
    el('p', { class: 'small soft' },
      `Each box is below its caller and as wide as its time${note}. Click or Enter zooms into a box, Escape shows all; arrow keys move to the caller, the callee and the neighbors.`)));
}

// `tree` has names and steps; the first element of a step is its caller. `look` gives the size of a step (`size`
// in this layout, `most` in any), the width of the picture (`whole`), the texts and attributes of a step (`text`,
// `label`, `attributes`), and the text for a search (`found`).
function flame(tree, look) {
  const parentOf = (at) => tree.steps[at][0];
  const children = tree.steps.map(() => []);
  const roots = [];
  tree.steps.forEach(([parent], at) => (parent < 0 ? roots : children[parent]).push(at));
  [roots, ...children].forEach((list) => list.sort((a, b) => look.most(b) - look.most(a)));
  const place = tree.steps.map(() => null);
  const layFrom = (list, from, level) => list.forEach((at) => {
    place[at] = { from, level };
    layFrom(children[at], from, level + 1);
    from += look.size(at);
  });
  layFrom(roots, 0, 0);
  const area = el('div', { class: 'flame', role: 'tree', 'aria-label': tree.title });
  const said = el('p', { class: 'small soft said', 'aria-live': 'polite' });
  const boxes = tree.steps.map((_, at) => {
    const text = look.text(at);
    return el('div', {
      ...look.attributes(at), role: 'treeitem', tabindex: '-1', title: text, 'aria-label': text,
      'aria-level': place[at].level + 1, click: () => zoom(at),
    }, el('span', {}, look.label(at)));
  });
  let zoomed = null;
  let current = roots.length ? roots[0] : null;
  const isWithin = (at, of) => { while (at >= 0 && at !== of) at = parentOf(at); return at === of; };
  const shown = (at) => zoomed === null || isWithin(at, zoomed) || isWithin(zoomed, at);
  function draw() {
    const from = zoomed === null ? 0 : place[zoomed].from;
    const whole = zoomed === null ? look.whole() : look.most(zoomed);
    let deepest = 0;
    boxes.forEach((box, at) => {
      const above = zoomed !== null && at !== zoomed && isWithin(zoomed, at);
      const wide = above ? 1 : look.size(at) / whole;
      // Boxes narrower than two pixels would only make the picture taller.
      box.hidden = !shown(at) || (wide < 0.002 && at !== zoomed);
      if (!box.hidden) deepest = Math.max(deepest, place[at].level);
      box.style.left = `${above ? 0 : 100 * (place[at].from - from) / whole}%`;
      box.style.width = `${100 * wide}%`;
      box.style.top = `${place[at].level * 21}px`;
      box.classList.toggle('above', above);
      box.setAttribute('tabindex', at === current ? '0' : '-1');
    });
    area.style.height = `${(deepest + 1) * 21}px`;
  }
  // Lays the boxes out again after their sizes changed.
  function lay() {
    layFrom(roots, 0, 0);
    draw();
    if (current !== null && boxes[current].hidden) {
      const first = boxes.findIndex((box) => !box.hidden);
      current = first < 0 ? null : first;
      draw();
    }
  }
  function zoom(at) {
    zoomed = at === zoomed ? null : at;
    if (at !== null) current = at;
    draw();
    said.textContent = zoomed === null ? '' : look.text(zoomed);
  }
  const visible = (list) => list.filter((at) => !boxes[at].hidden);
  function move(to) {
    if (to === undefined) return;
    current = to;
    draw();
    boxes[to].focus();
    said.textContent = look.text(to);
  }
  area.addEventListener('keydown', (event) => {
    if (current === null) return;
    const parent = parentOf(current);
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
  const nameOf = (at) => tree.names[look.name(at)];
  function search(text) {
    const wanted = text.trim().toLowerCase();
    const isHit = (at) => wanted !== '' && nameOf(at).toLowerCase().includes(wanted);
    // A hit below another hit is included in its time.
    const outermost = [];
    boxes.forEach((box, at) => {
      const hit = isHit(at);
      box.classList.toggle('hit', hit);
      box.classList.toggle('missed', wanted !== '' && !hit);
      let above = parentOf(at);
      while (above >= 0 && !isHit(above)) above = parentOf(above);
      if (hit && above < 0) outermost.push(at);
    });
    return wanted === '' ? '' : `${tree.title}: ${look.found(outermost)}`;
  }
  area.append(...boxes);
  draw();
  const figure = el('figure', { class: 'chart' },
    el('h3', {}, `${tree.title} `, el('span', { class: 'small soft' }, look.all)),
    el('div', { class: 'flames' }, area), said);
  return { figure, search, zoom, lay };
}
