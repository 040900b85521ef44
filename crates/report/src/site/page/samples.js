// The runs of the last two points: a density curve for each point, with its runs below.

function quantile(sorted, p) {
  const at = (sorted.length - 1) * p;
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
// A kernel density estimate with Silverman's bandwidth, as in page/density.rs; null for fewer than five values.
function density(sorted) {
  const n = sorted.length;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  const deviation = Math.sqrt(sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const quartiles = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
  const width = (0.9 * (quartiles > 0 ? Math.min(deviation, quartiles) : deviation)) / n ** 0.2;
  if (n < 5 || !(width > 0)) return null;
  const [low, high] = [sorted[0] - 3 * width, sorted[n - 1] + 3 * width];
  const places = Array.from({ length: 121 }, (_, step) => low + ((high - low) * step) / 120);
  const heights = places.map((at) => sorted.reduce((sum, value) => sum + Math.exp(-(((at - value) / width) ** 2) / 2), 0));
  const highest = Math.max(...heights);
  return places.map((at, step) => [at, heights[step] / highest]);
}
function samples(data, series, all) {
  const box = el('div', {});
  function draw() {
    const wide = Math.max(240, box.clientWidth);
    // The slowest 5 % would squeeze all other runs together, so they are drawn at the right edge.
    const ends = all.map((one) => [one.values[0], quantile(one.values, 0.95) * 1.02]);
    const shapes = all.map((one) => density(one.values.filter((value) => value <= quantile(one.values, 0.95))));
    const low = Math.min(...ends.map((end) => end[0])) * 0.99;
    const high = Math.max(...ends.map((end) => end[1]), low * 1.001);
    const x = (value) => 8 + clamp((value - low) / (high - low), 0, 1) * (wide - 16);
    const row = 96;
    const svg = shape('svg', { class: 'plot', width: wide, height: row * all.length + 22, viewBox: `0 0 ${wide} ${row * all.length + 22}`, role: 'img', 'aria-label': `Runs of ${all.length} measurements` });
    const across = ticks(low, high, false, clamp(Math.floor(wide / 80), 3, 7));
    const texts = tickTexts(across, series.unit);
    let free = -Infinity;
    across.forEach((tick, at) => {
      svg.append(shape('line', { class: 'grid', x1: x(tick), x2: x(tick), y1: 20, y2: row * all.length }));
      const size = texts[at].length * LETTER;
      const begin = clamp(x(tick) - size / 2, 0, wide - size);
      if (begin > free) svg.append(shape('text', { class: 'axis', x: begin, y: row * all.length + 16 }, texts[at]));
      if (begin > free) free = begin + size + 8;
    });
    all.forEach((one, at) => {
      const top = row * at;
      const floor = top + 62;
      const group = shape('g', { class: `c${at}` });
      group.append(shape('text', { class: 'name', x: 0, y: top + 13 }, one.name));
      const curve = shapes[at];
      if (curve) group.append(shape('path', { class: 'density', d: `M${curve.map(([value, height]) => `${x(value).toFixed(1)} ${(floor - height * 38).toFixed(1)}`).join('L')}L${x(curve[120][0]).toFixed(1)} ${floor}L${x(curve[0][0]).toFixed(1)} ${floor}Z` }));
      one.values.forEach((value, place) => group.append(shape('circle', { class: 'each', r: 2.5, cx: x(value).toFixed(1), cy: (floor + 5 + ((place * 0.618034) % 1) * 20).toFixed(1) })));
      group.append(shape('circle', { class: 'median', r: 4.5, cx: x(one.median).toFixed(1), cy: floor }));
      svg.append(group);
    });
    box.replaceChildren(svg);
  }
  return { box, draw };
}
