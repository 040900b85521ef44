// An expression: a list of sentences that describe what is wrong with the page as shown.
(() => {
  const found = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > window.innerWidth) {
    found.push(`the page scrolls sideways: ${document.documentElement.scrollWidth} of ${window.innerWidth}`);
  }
  const say = (node) => `<${node.tagName.toLowerCase()} class="${node.getAttribute('class') || ''}"> ${(node.textContent || '').slice(0, 60)}`;
  const shown = (node) => node.getClientRects().length > 0;
  for (const node of document.body.querySelectorAll('*')) {
    if (!shown(node) || node.closest('.hidden')) continue;
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
    // The width of a flame-graph box is its time; its title has the whole name.
    const isTitled = node.matches('.flame .step') && node.title.startsWith(node.textContent);
    if (hides && !isTitled && !(node instanceof SVGElement) && node.scrollWidth > node.clientWidth + 1) found.push(`cut off: ${say(node)}`);
    const inBox = node.parentElement.closest('.scroll, #timeline, .flame');
    if (!inBox && box.width > 0 && (box.right > wide + 1 || box.left < -1)) found.push(`outside the page: ${say(node)}`);
  }
  for (const svg of document.querySelectorAll('svg.plot, svg.scale')) {
    if (!shown(svg)) continue;
    const area = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(shown).map((text) => [text, text.getBoundingClientRect()]);
    for (const [text, box] of texts) {
      if (box.left < area.left - 1 || box.right > area.right + 1 || box.top < area.top - 3 || box.bottom > area.bottom + 3) {
        found.push(`outside its picture: ${text.textContent}`);
      }
    }
    texts.forEach(([text, box], at) => {
      for (const [other, its] of texts.slice(at + 1)) {
        const apart = box.right <= its.left || its.right <= box.left || box.bottom - 3 <= its.top || its.bottom - 3 <= box.top;
        if (!apart) found.push(`overlapping: ${text.textContent} | ${other.textContent}`);
      }
    });
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let words = 0;
  while (walker.nextNode() && words < 4000) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (parent.closest('script, svg, .hidden') || !shown(parent)) continue;
    for (const match of node.data.matchAll(/[\p{L}\p{N}_]{2,20}/gu)) {
      words += 1;
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      // Only words delimited by ordinary characters count: elsewhere a line may end anywhere.
      const before = node.data[match.index - 1] || ' ';
      const after = node.data[match.index + match[0].length] || ' ';
      const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top / 4)));
      if (tops.size > 1 && /[\s/(]/.test(before) && /[\s/),.]/.test(after)) found.push(`broken word: ${match[0]}`);
    }
  }
  if (document.body.innerText.includes('\\u{a0}')) found.push('a joined space is written out');
  return [...new Set(found)].slice(0, 20);
})()
