// Flame graphs of one command: one of CPU time, one of waits.

function flames() {
  if (!data.flames.length) return;
  flameSection('Call paths', data.flames.map(flameOfOne), '');
}

function flameOfOne(tree) {
  const size = (at) => tree.steps[at][1];
  const name = (at) => tree.steps[at][2];
  const part = (at) => tree.steps[at][3];
  const sum = (list) => list.reduce((all, at) => all + size(at), 0);
  return flame(tree, {
    size, most: size, name,
    whole: () => tree.ns,
    label: (at) => tree.names[name(at)],
    text: (at) => `${tree.names[name(at)]}: ${data.times ? `${time(size(at))}, ` : ''}${share(size(at) / data.whole_ns)} of the ${data.whole}`,
    attributes: (at) => ({ class: part(at) === null ? `step ${tree.kind}` : `step ${kindOf(part(at))}`, part: part(at) }),
    found: (list) => share(sum(list) / data.whole_ns),
    all: `${share(tree.ns / data.whole_ns)} of the ${data.whole}`,
  });
}
