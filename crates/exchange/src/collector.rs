//! Collects what readers find. Samples of a known series are appended to it, and everything is bounded.

use std::collections::{BTreeMap, HashMap};

use crate::error::Error;
pub(crate) use crate::measure::Measure;
use crate::measure::shortened;
use fathom_model::PLACE;
use fathom_model::imported::{
    Benchmark, Direction, Imported, LeftOut, Source, Summary, Values, base_unit,
};

/// The maximum number of benchmarks; with names and parameters of usual length, this many take about 200 MB.
const MOST_BENCHMARKS: usize = 200_000;
/// The maximum number of samples and iterations of all benchmarks, which take 200 MB.
const MOST_VALUES: usize = 25_000_000;
/// The maximum number of reasons for omissions; more wouldn't help the user.
const MOST_LEFT_OUT: usize = 1000;
/// Returns why a series is not a measurement. A duration can't be negative, and that of a program can't be
/// zero; such values come from tools that subtract their own time, or whose code was optimized away.
fn no_time(one: &Benchmark) -> Option<(String, &'static str)> {
    if base_unit(&one.unit).1 != "seconds" {
        return None;
    }
    let share = |is: &dyn Fn(f64) -> bool| match &one.values {
        Values::Samples(samples) => {
            let such = samples.iter().filter(|value| is(**value)).count();
            such as f64 / samples.len().max(1) as f64
        }
        Values::Summary(all) => {
            let middles = [all.median, all.value, all.mean].into_iter().flatten();
            f64::from(u8::from(middles.into_iter().any(is)))
        }
    };
    let what = format!("{} {}", one.name, one.metric);
    if share(&|value| value < 0.0) > 0.0 {
        return Some((
            what,
            "a time below 0: the tool subtracted more than it measured",
        ));
    }
    let reason = match one.metric.as_str() {
        "wall" => "a time of 0: nothing was measured",
        // hey prints times with a resolution of a tenth of a millisecond.
        "response" => "a time of 0: nothing was measured, or less than the tool's resolution",
        _ => return None,
    };
    // This is so for at least half of the runs, so the median is 0, too.
    (share(&|value| value == 0.0) >= 0.5).then_some((what, reason))
}

pub(crate) struct Collector {
    tool: &'static str,
    version: Option<String>,
    environment: BTreeMap<String, String>,
    benchmarks: Vec<Benchmark>,
    /// The measurement conditions of each benchmark.
    conditions: Vec<BTreeMap<String, String>>,
    units: HashMap<String, (Option<Direction>, bool)>,
    index: HashMap<Measure, usize>,
    left_out: Vec<LeftOut>,
    left_out_index: HashMap<(String, String), usize>,
    values: usize,
    series: usize,
    /// Earlier records, in a file that is a history.
    before: Vec<Collector>,
}

impl Collector {
    pub(crate) fn new(tool: &'static str) -> Collector {
        Collector {
            tool,
            version: None,
            environment: BTreeMap::new(),
            benchmarks: Vec::new(),
            conditions: Vec::new(),
            units: HashMap::new(),
            index: HashMap::new(),
            left_out: Vec::new(),
            left_out_index: HashMap::new(),
            values: 0,
            series: 0,
            before: Vec::new(),
        }
    }

    /// Starts a new record for what was measured later. The bounds apply to all records together.
    pub(crate) fn next_record(&mut self) {
        let mut done = std::mem::replace(self, Collector::new(self.tool));
        self.before = std::mem::take(&mut done.before);
        (self.values, self.series) = (done.values, done.series);
        self.before.push(done);
    }

    pub(crate) fn version(&mut self, version: Option<&str>) {
        self.version = version.map(|version| shortened(version.to_owned()));
    }

    /// Sets an environment value. The first value of a key is kept; values that differ from it are counted.
    pub(crate) fn environment(&mut self, key: &str, value: &str) {
        match self.environment.get(key) {
            Some(old) if old == value => {}
            Some(_) => self.left_out(key, "an earlier value in the file is kept"),
            None if self.environment.len() < 100 => {
                self.environment
                    .insert(shortened(key.to_owned()), shortened(value.to_owned()));
            }
            None => self.left_out("environment", "more than 100 keys"),
        }
    }

    /// Sets the properties of a unit for all figures of the file: which direction is better, and whether
    /// values are exact.
    pub(crate) fn unit(&mut self, unit: &str, direction: Option<Direction>, exact: bool) {
        if self.units.len() >= MOST_LEFT_OUT && !self.units.contains_key(unit) {
            return self.left_out(
                "units",
                format!("the file describes more than {MOST_LEFT_OUT} units"),
            );
        }
        let known = self.units.entry(unit.to_owned()).or_default();
        known.0 = direction.or(known.0);
        known.1 |= exact;
    }

    pub(crate) fn left_out(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.left_out_times(what, reason, 1);
    }

    pub(crate) fn left_out_times(
        &mut self,
        what: impl Into<String>,
        reason: impl Into<String>,
        count: u64,
    ) {
        if count == 0 {
            return;
        }
        let mut key = (shortened(what.into()), shortened(reason.into()));
        if self.left_out.len() >= MOST_LEFT_OUT && !self.left_out_index.contains_key(&key) {
            key = (
                "others".to_owned(),
                format!("more than {MOST_LEFT_OUT} entries in this list"),
            );
        }
        if let Some(&at) = self.left_out_index.get(&key) {
            self.left_out[at].count += count;
            return;
        }
        let (what, reason) = key.clone();
        self.left_out_index.insert(key, self.left_out.len());
        self.left_out.push(LeftOut {
            what,
            reason,
            count,
        });
    }

    /// Adds samples to a series, which is created if it is new.
    pub(crate) fn samples(
        &mut self,
        measure: Measure,
        samples: impl IntoIterator<Item = f64>,
        iterations: &[u64],
    ) -> Option<usize> {
        let at = match self.index.get(&measure) {
            Some(&at) => at,
            None => self.push(measure, Values::Samples(Vec::new()))?,
        };
        if iterations.len() == 1 && self.benchmarks[at].iterations.is_empty() {
            self.benchmarks[at].iterations.push(iterations[0]);
            for sample in samples {
                self.sample_at(at, sample, None);
            }
            return Some(at);
        }
        for (number, sample) in samples.into_iter().enumerate() {
            self.sample_at(at, sample, iterations.get(number).copied());
        }
        Some(at)
    }

    /// Adds a separate series, even if another has the same name.
    pub(crate) fn separate(
        &mut self,
        measure: Measure,
        samples: impl IntoIterator<Item = f64>,
        iterations: &[u64],
    ) {
        self.index.remove(&measure);
        self.samples(measure, samples, iterations);
    }

    /// Adds the file's description of the machine; nested keys are joined with dots.
    pub(crate) fn environment_of(&mut self, prefix: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, value) in map {
                    let dot = if prefix.is_empty() { "" } else { "." };
                    self.environment_of(&format!("{prefix}{dot}{key}"), value);
                }
            }
            serde_json::Value::Null => {}
            value => self.environment(prefix, &crate::json::text(value)),
        }
    }

    /// Adds a sample to the series with the index that [`Collector::samples`] returned.
    pub(crate) fn sample_at(&mut self, at: usize, sample: f64, iterations: Option<u64>) {
        if !sample.is_finite() {
            let name = self.benchmarks[at].name.clone();
            self.left_out(name, "no finite number");
            return;
        }
        if self.values + 1 + usize::from(iterations.is_some()) > MOST_VALUES {
            let name = self.benchmarks[at].name.clone();
            self.left_out(name, "more samples than the memory limit allows");
            return;
        }
        let benchmark = &mut self.benchmarks[at];
        if let Values::Samples(samples) = &mut benchmark.values {
            samples.push(sample);
            benchmark.iterations.extend(iterations);
            self.values += 1 + usize::from(iterations.is_some());
        }
    }

    /// Adds the single value that a tool reports.
    pub(crate) fn value(&mut self, measure: Measure, value: Option<f64>) {
        let summary = Summary {
            value,
            ..Summary::default()
        };
        self.summary(measure, summary);
    }

    pub(crate) fn summary(&mut self, measure: Measure, summary: Summary) {
        self.summary_of(measure, summary, &[]);
    }

    /// Adds a summary, which is never joined with another one.
    pub(crate) fn summary_of(
        &mut self,
        measure: Measure,
        mut summary: Summary,
        iterations: &[u64],
    ) {
        let figures = [
            &mut summary.value,
            &mut summary.mean,
            &mut summary.median,
            &mut summary.standard_deviation,
            &mut summary.min,
            &mut summary.max,
            &mut summary.low,
            &mut summary.high,
            &mut summary.level,
        ];
        let mut bad = 0;
        for figure in figures {
            if figure.is_some_and(|value| !value.is_finite()) {
                *figure = None;
                bad += 1;
            }
        }
        for map in [&mut summary.quantiles, &mut summary.other] {
            let before = map.len();
            map.retain(|_, value| value.is_finite());
            bad += (before - map.len()) as u64;
        }
        self.left_out_times(&measure.name, "no finite number", bad);
        if summary.count == Some(0) {
            let what = format!("{} {}", measure.name, measure.metric);
            self.left_out(what, "figures without samples");
            return;
        }
        if (Summary {
            count: None,
            level: None,
            ..summary.clone()
        }) == Summary::default()
        {
            self.left_out(measure.name, "it contains no figures");
            return;
        }
        if let Some(at) = self.push(measure, Values::Summary(Box::new(summary))) {
            self.benchmarks[at].iterations = iterations.to_vec();
        }
    }

    fn push(&mut self, measure: Measure, values: Values) -> Option<usize> {
        if self.series >= MOST_BENCHMARKS {
            self.left_out("benchmarks", format!("more than {MOST_BENCHMARKS}"));
            return None;
        }
        self.series += 1;
        let at = self.benchmarks.len();
        if matches!(values, Values::Samples(_)) {
            self.index.insert(measure.clone(), at);
        }
        self.conditions.push(measure.conditions);
        self.benchmarks.push(Benchmark {
            name: measure.name,
            parameters: measure.parameters,
            metric: measure.metric,
            unit: measure.unit,
            direction: measure.direction,
            exact: measure.exact,
            values,
            iterations: Vec::new(),
            threads: measure.threads,
        });
        Some(at)
    }

    /// Moves a condition to the environment if it holds for all benchmarks, and otherwise to the parameters
    /// of each benchmark.
    fn place_conditions(&mut self) {
        let all = std::mem::take(&mut self.conditions);
        let mut keys: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let first = all[0].get(key);
            if let Some(value) = first
                && all.iter().all(|one| one.get(key) == first)
            {
                self.environment(key, value);
                continue;
            }
            for (benchmark, own) in self.benchmarks.iter_mut().zip(&all) {
                let Some(value) = own.get(key).filter(|value| !value.is_empty()) else {
                    continue;
                };
                let name = match benchmark.parameters.contains_key(key) {
                    true => format!("{key} of the file"),
                    false => key.clone(),
                };
                benchmark.parameters.insert(name, shortened(value.clone()));
            }
        }
    }

    /// If several series are equal, gives the second and all later ones their position as a parameter.
    fn place_equals(&mut self) {
        let all = &mut self.benchmarks;
        let same = |a: &Benchmark, b: &Benchmark| {
            (a.name.cmp(&b.name))
                .then_with(|| a.metric.cmp(&b.metric))
                .then_with(|| a.threads.cmp(&b.threads))
                .then_with(|| a.parameters.cmp(&b.parameters))
        };
        // The series are sorted by index, because a map of 200,000 names would hold each of them twice.
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|a, b| same(&all[*a], &all[*b]));
        let mut further = Vec::new();
        for equal in order.chunk_by(|a, b| same(&all[*a], &all[*b]).is_eq()) {
            further.extend((2..).zip(&equal[1..]).map(|(place, at)| (*at, place)));
        }
        for (at, place) in further {
            let parameters = all[at].parameters.entry(PLACE.to_owned());
            parameters.or_insert_with(|| i32::to_string(&place));
        }
    }

    /// Returns all records of a history, the newest last.
    pub(crate) fn finish_all(mut self, file: &str) -> Result<Vec<Imported>, Error> {
        let before = std::mem::take(&mut self.before);
        let all = before.into_iter().chain([self]);
        all.map(|one| one.finish(file)).collect()
    }

    pub(crate) fn finish(mut self, file: &str) -> Result<Imported, Error> {
        self.place_conditions();
        for benchmark in &mut self.benchmarks {
            if let Some((direction, exact)) = self.units.get(&benchmark.unit) {
                benchmark.direction = direction.or(benchmark.direction);
                benchmark.exact |= exact;
            }
        }
        for (what, reason) in self.benchmarks.iter().filter_map(no_time) {
            self.left_out.push(LeftOut {
                what,
                reason: reason.to_owned(),
                count: 1,
            });
        }
        self.benchmarks.retain(|one| no_time(one).is_none());
        let empty = |benchmark: &Benchmark| matches!(&benchmark.values, Values::Samples(list) if list.is_empty());
        for name in self
            .benchmarks
            .iter()
            .filter(|one| empty(one))
            .map(|one| one.name.clone())
            .collect::<Vec<_>>()
        {
            self.left_out(name, "no samples");
        }
        self.benchmarks.retain(|benchmark| !empty(benchmark));
        self.place_equals();
        if self.benchmarks.is_empty() && self.left_out.is_empty() {
            return Err(Error::Empty(self.tool));
        }
        Ok(Imported {
            source: Source {
                tool: self.tool.to_owned(),
                version: self.version,
                file: file.to_owned(),
                environment: self.environment,
            },
            benchmarks: self.benchmarks,
            left_out: self.left_out,
        })
    }
}
