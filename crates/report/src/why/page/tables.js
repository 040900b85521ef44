// The sortable tables, and the start of the page.

// Columns: title, value to sort by, text. The first is the name; clicking a title sorts.
function table(label, columns, rows) {
  const body = el('tbody', {});
  const heads = columns.map(([title], column) => el('th', { scope: 'col', 'aria-sort': 'none' },
    el('button', { type: 'button', click: () => sort(column) }, title)));
  let sorted = -1;
  let down = true;
  function sort(column) {
    down = column === sorted ? !down : column !== 0;
    sorted = column;
    const value = columns[column][1];
    rows.sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      const order = typeof left === 'string' ? left.localeCompare(right) : left - right;
      return down ? -order : order;
    });
    heads.forEach((head, at) => head.setAttribute('aria-sort', at !== column ? 'none' : down ? 'descending' : 'ascending'));
    fillBody();
  }
  function fillBody() {
    body.replaceChildren(...rows.map((row) => el('tr', {}, columns.map(([title, value, text], at) =>
      el('td', { class: at === 0 ? 'mono' : title === 'Spent on' ? 'words' : null }, text ? text(row) : value(row))))));
  }
  fillBody();
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    el('table', {}, el('caption', { class: 'hidden' }, label), el('thead', {}, el('tr', {}, heads)), body));
}
function tables() {
  const total = (row) => (row.total === null ? -1 : row.total);
  const blocked = (row) => (row.blocked === null ? -1 : row.blocked);
  const orDash = (of) => (row) => (of(row) < 0 ? '–' : quoted(of(row)));
  const each = (row) => (row.calls ? row.bytes / row.calls : 0);
  const shared = [
    ['Calls', (row) => row.calls, (row) => count(row.calls)],
    ['Bytes', (row) => row.bytes, (row) => bytes(row.bytes)],
    ['Per call', each, (row) => (each(row) ? bytes(each(row)) : '–')],
    ['Time', total, orDash(total)],
    ['Blocked', blocked, orDash(blocked)],
  ];
  const errors = ['Errors', (row) => row.errors, (row) => count(row.errors)];
  const several = new Set(data.io.map((row) => row.pid)).size > 1;
  if (data.io.length) {
    const name = (row) => (row.fd === null ? row.name : `${row.fd}  ${row.name}`);
    main.append(el('section', { 'aria-labelledby': 'io-title' },
      el('h2', { id: 'io-title' }, 'Read and written'),
      table('Input and output by descriptor and path', [
        ['Descriptor, path', name],
        ...(several ? [['Process', (row) => row.pid]] : []),
        ...shared, ['Seeks', (row) => row.seeks, (row) => count(row.seeks)], errors], data.io)));
  }
  if (data.calls.length) {
    main.append(el('section', { 'aria-labelledby': 'calls-title' },
      el('h2', { id: 'calls-title' }, 'System calls'),
      table('System calls', [['Call', (row) => row.name], ...shared, errors], data.calls)));
  }
  if (data.functions.length) {
    main.append(el('section', { 'aria-labelledby': 'functions-title' },
      el('h2', { id: 'functions-title' }, 'The program’s own code'),
      table('Functions of the own code', [
        ['Function', (row) => row.name],
        ['Of it', (row) => row.share, (row) => share(row.share)],
        ['Samples', (row) => row.samples, (row) => count(row.samples)],
        ['File', (row) => row.file],
      ], data.functions)));
  }
  if (lanes.length) {
    const life = (lane) => Math.max(0, lane.to - lane.from);
    const spent = (lane) => lane.account
      .filter(([, ns]) => ns >= life(lane) * 0.01)
      .map(([part, ns]) => `${share(ns / life(lane))} ${data.parts[part].name}`).join(', ');
    main.append(el('section', { 'aria-labelledby': 'threads-title' },
      el('h2', { id: 'threads-title' }, 'Processes and threads'),
      table('Processes and threads', [
        ['Name', (lane) => lane.name || lane.process || 'thread'],
        ['Process', (lane) => lane.pid],
        ['Thread', (lane) => lane.tid],
        ['Began', (lane) => lane.from, (lane) => quoted(lane.from)],
        ['Lasted', life, (lane) => quoted(life(lane))],
        ['Spent on', spent],
      ], lanes.slice())));
  }
  main.append(...data.notes.map((note) => el('p', { class: 'small soft' }, note)));
}

header();
account();
findings();
timeline();
tables();
