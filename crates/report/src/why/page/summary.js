// The upper part of the page: the timings, the time account, the findings.

function tile(label, value, note, name) {
  return el('div', { class: `tile ${name || ''}` },
    el('div', { class: 'label' }, label),
    el('div', { class: 'value' }, value),
    note ? el('div', { class: 'small soft' }, note) : null);
}
function strip(kind, label, texts) {
  return texts.map((text) => el('p', { class: `strip ${kind}` }, el('strong', {}, label), text));
}
function header() {
  const comma = data.wall.indexOf(', ');
  const [median, interval] = comma < 0 ? [data.wall, ''] : [data.wall.slice(0, comma), `${data.wall.slice(comma + 2)}; `];
  const quiet = data.times ? '' : '; times are scaled';
  const ran = data.process !== null;
  main.append(
    el('div', { class: 'tiles' },
      ran ? tile('Observed time', data.wall, data.process, 'main')
        : tile('Median wall time', median, `${interval}${data.runs}`, 'main'),
      tile(ran ? 'CPU time of all threads' : 'Median CPU time', data.cpu,
        data.floor ? `${data.floor} of the wall time is process start-up` : null),
      ran ? null : tile('Peak memory', data.memory),
      tile('Findings', data.findings.length || 'none', data.findings.length ? 'the largest first' : data.verdict)),
    ...strip('', 'Observed', [`${ran ? '' : 'in a separate run, '}${data.explained}, ${data.slowdown}${quiet}.`]),
    ...strip('bad', 'Ended', data.end ? [data.end] : []),
    ...strip('bad', 'Lost', data.lost),
    ...strip('warn', 'Warning', data.warnings),
    ...strip('', 'Not visible', data.not_visible.length ? [data.not_visible.join(' ')] : []));
}

function account() {
  const whole = data.times ? `of the ${data.whole}, ${time(data.whole_ns)}` : `shares of the ${data.whole}, modelled`;
  const bar = el('div', { class: 'bar', role: 'group', 'aria-label': 'Where the time goes' });
  for (const one of data.account) {
    const thin = one.share < 0.045;
    const label = one.part === null ? 'other' : one.share < 0.27 ? data.parts[one.part].short : one.name;
    const text = `${one.name}: ${data.times ? `${time(one.ns)}, ` : ''}${share(one.share)}`;
    const piece = el('button', {
      type: 'button', class: `${kindOf(one.part)} ${thin ? 'thin' : ''}`, part: one.part, title: text, 'aria-label': text,
      click: () => one.part !== null && chooseParts([one.part], true),
    }, thin ? null : el('span', {}, one.share < 0.075 ? label : `${label} ${share(one.share)}`));
    piece.style.flexGrow = String(Math.max(one.share, 0.001));
    bar.append(piece);
  }
  // Hide names that don't fit: the list below has all of them.
  const fit = () => bar.querySelectorAll('span').forEach((name) => {
    name.hidden = false;
    name.hidden = name.parentElement.scrollWidth > name.parentElement.clientWidth;
  });
  new ResizeObserver(fit).observe(bar);
  const list = data.account.map((one) => el('li', {},
    el('span', { class: `swatch ${kindOf(one.part)}`, part: one.part }),
    el('span', {}, one.name),
    el('span', { class: 'number' }, data.times ? time(one.ns) : ''),
    el('strong', { class: 'number' }, share(one.share))));
  main.append(el('section', { 'aria-labelledby': 'account-title' },
    el('h2', { id: 'account-title' }, 'Where the time goes ', el('span', { class: 'small soft' }, whole)),
    data.account.length ? [bar, el('ul', { class: 'parts' }, list)] : el('p', { class: 'soft' }, 'The account is empty.')));
}

// Text between backticks is code.
function prose(text) {
  return text.split('`').map((part, at) => (at % 2 ? el('code', {}, part) : part));
}
function card(finding, index) {
  const facts = [...finding.evidence];
  if (finding.limit) facts.push(['limit', finding.limit]);
  if (finding.place.length) facts.push(['where', finding.place.join(', ')]);
  const meter = el('i', {});
  meter.style.width = `${Math.min(100, finding.share * 100)}%`;
  return el('article', { class: 'card', id: `finding-${index + 1}`, tabindex: '-1', 'aria-labelledby': `finding-title-${index + 1}` },
    el('div', { class: 'head' },
      el('span', { class: 'badge', 'aria-hidden': 'true' }, index + 1),
      el('h3', { class: 'mono', id: `finding-title-${index + 1}` }, finding.id),
      el('span', { class: 'chip' }, `${share(finding.share)} of the wall time`),
      finding.likely ? el('span', { class: 'chip' }, 'likely') : null),
    el('div', { class: 'meter', 'aria-hidden': 'true' }, meter),
    finding.saving ? el('p', { class: 'saving' }, finding.saving.charAt(0).toUpperCase() + finding.saving.slice(1)) : null,
    finding.proof ? el('p', { class: 'proof' }, finding.proof.charAt(0).toUpperCase() + finding.proof.slice(1)) : null,
    el('p', {}, prose(finding.statement)),
    el('p', { class: 'advice' }, prose(finding.advice)),
    facts.length ? el('dl', { class: 'facts' }, facts.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])) : null,
    drawn() ? el('button', { type: 'button', class: 'plain show', 'aria-pressed': 'false', click: () => chooseFinding(index) }, 'Show on the timeline') : null);
}
function findings() {
  const largest = data.account.slice(0, 3).map((one) => `${one.name} (${share(one.share)})`).join(', ');
  main.append(el('section', { 'aria-labelledby': 'findings-title' },
    el('h2', { id: 'findings-title' }, data.findings.length ? 'Findings' : data.verdict),
    data.findings.length
      ? el('div', { class: 'cards' }, data.findings.map(card))
      : [el('p', {}, largest ? `The time goes to ${largest}.` : ''), data.child ? el('p', {}, data.child) : null]));
}
