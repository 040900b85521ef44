'use strict';
// A click on a column header sorts the table. A focused mark of a picture shows the same text as under the pointer. A
// button saves the record that the page contains.
function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent : Number(cell.dataset.sort);
  };
  if (body.rows.length < 2) return;
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute('aria-sort', 'none');
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.setAttribute('aria-sort', 'none');
      head.setAttribute('aria-sort', up ? 'descending' : 'ascending');
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        // Rows without a value come last in both directions.
        if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
        const order = typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true });
        return up ? -order : order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
{
  for (const table of document.querySelectorAll('table.sortable')) sortable(table);
  const bubble = document.createElement('div');
  bubble.className = 'bubble';
  bubble.hidden = true;
  bubble.setAttribute('aria-hidden', 'true');
  document.body.append(bubble);
  document.addEventListener('focusin', (event) => {
    const mark = event.target.closest('svg [tabindex]');
    bubble.hidden = !mark;
    if (!mark) return;
    bubble.textContent = mark.getAttribute('aria-label');
    const area = mark.getBoundingClientRect();
    const wide = bubble.getBoundingClientRect().width;
    bubble.style.left = `${Math.max(4, Math.min(area.left, document.documentElement.clientWidth - wide - 8)) + window.scrollX}px`;
    bubble.style.top = `${area.bottom + 8 + window.scrollY}px`;
  });
  document.addEventListener('focusout', () => { bubble.hidden = true; });
  for (const button of document.querySelectorAll('[data-save]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([document.getElementById('record').textContent], { type: 'application/json' }));
      link.download = button.dataset.save;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  }
}
