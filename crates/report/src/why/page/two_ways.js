// Flame graphs of two commands: the widths are the times of one of them, and boxes that differ are marked.

function differenceFlames() {
  if (!data.flames.length) return;
  let wideAs = data.flames[0].b_ns >= data.flames[0].a_ns ? 1 : 0;
  const graphs = data.flames.map((tree) => flameOfTwo(tree, () => wideAs));
  const buttons = ['A', 'B'].map((name, side) => el('button', {
    type: 'button', class: 'plain', 'aria-pressed': String(side === wideAs), click: () => choose(side),
  }, `Widths of ${name}`));
  function choose(side) {
    wideAs = side;
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(at === side)));
    graphs.forEach((graph) => graph.lay());
  }
  const key = (kind, text) => el('li', {}, el('i', { class: `key ${kind}` }), text);
  flameSection('Call paths of A and B', graphs, ' in the selected command; select the other one to see the boxes that only it has', buttons);
  const spread = data.spread
    ? 'no difference beyond the spread of the observed runs'
    : 'they differ by less than 1 % of the longer time; each was observed once, so small differences may be noise';
  main.lastChild.querySelector('.tools').after(el('ul', { class: 'legend' },
    key('more', '▲ more time in B'), key('less', '▼ less time in B'), key('same', spread)));
}

function flameOfTwo(tree, wideAs) {
  const a = (at) => tree.steps[at][1];
  const b = (at) => tree.steps[at][2];
  const name = (at) => tree.steps[at][3];
  const longer = Math.max(tree.a_ns, tree.b_ns, 1);
  // If the noise is unknown, small differences don't count.
  const differs = (at) => {
    const clear = tree.steps[at][4];
    return clear === null ? Math.abs(b(at) - a(at)) >= 0.01 * longer : clear;
  };
  const kind = (at) => (!differs(at) ? 'same' : b(at) > a(at) ? 'more' : 'less');
  const largest = Math.max(...tree.steps.map((_, at) => (differs(at) ? Math.abs(b(at) - a(at)) : 0)), 1);
  const strength = (at) => `${Math.round(25 + 75 * Math.abs(b(at) - a(at)) / largest)}%`;
  const by = (at) => time(Math.abs(b(at) - a(at)));
  const sums = (list) => [a, b].map((of) => time(list.reduce((all, at) => all + of(at), 0)));
  const both = ([ofA, ofB]) => `A ${ofA}, B ${ofB}`;
  const words = { more: 'more time in B', less: 'less time in B', same: 'no clear difference' };
  const label = {
    more: (at) => `▲ ${tree.names[name(at)]} +${by(at)}`,
    less: (at) => `▼ ${tree.names[name(at)]} −${by(at)}`,
    same: (at) => tree.names[name(at)],
  };
  return flame(tree, {
    name,
    size: (at) => (wideAs() ? b(at) : a(at)),
    most: (at) => Math.max(a(at), b(at)),
    whole: () => longer,
    label: (at) => label[kind(at)](at),
    text: (at) => `${label[kind(at)](at)}: ${words[kind(at)]}, ${both([time(a(at)), time(b(at))])}`,
    attributes: (at) => ({ class: `step ${kind(at)}`, strength: strength(at) }),
    found: (list) => both(sums(list)),
    all: both([time(tree.a_ns), time(tree.b_ns)]),
  });
}

differenceFlames();
