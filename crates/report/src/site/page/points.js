// The contents of the data block, as objects.

let data = JSON.parse(document.getElementById('data').textContent);
const live = data.live;

// A single number stands for a list of equal numbers, {from} for consecutive numbers from there.
function unpacked(packed, length) {
  if (Array.isArray(packed)) return packed;
  return Array.from({ length }, (_, at) => (typeof packed === 'number' ? packed : packed.from + at));
}
function measurementOf(data, number) {
  const all = data.measurements;
  const revision = unpacked(all.revision, all.record.length)[number];
  return {
    record: all.record[number],
    time: dateOf(all.seconds[number]),
    revision: revision < 0 ? '' : all.revisions[revision],
    dirty: all.dirty.includes(number),
    labels: all.labels[number] || [],
  };
}
const LISTS = ['value', 'below', 'above', 'runs', 'index', 'measurement', 'environment'];
// Returns a metric of a benchmark with its points.
function seriesOf(data, packed) {
  const metric = data.metrics[packed.metric];
  const lists = Object.fromEntries(LISTS.map((name) => [name, unpacked(packed[name], packed.points)]));
  const unit = 10 ** -packed.exponent;
  const points = lists.value.map((value, at) => ({
    value: value / unit,
    low: (value - lists.below[at]) / unit,
    high: (value + lists.above[at]) / unit,
    runs: lists.runs[at],
    index: lists.index[at],
    measurement: lists.measurement[at],
    environment: lists.environment[at],
  }));
  const changes = (packed.changes || []).map(([index, until, ratio, drift]) => ({ index, until, ratio, drift }));
  return { ...metric, points, changes, total: packed.total };
}
function nameOf(measurement) {
  const revision = measurement.revision ? measurement.revision.slice(0, 9) + (measurement.dirty ? '+' : '') : measurement.record.slice(0, 9);
  return measurement.labels.length ? `${measurement.labels.join(', ')} (${revision})` : revision;
}
