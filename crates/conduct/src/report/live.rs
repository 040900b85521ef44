//! A store that stays open. It serves an overview, and one series at a time at screen resolution.

use std::collections::HashSet;
use std::path::Path;

use fathom_model::{ChangePoint, Report, ReportBenchmark, ReportSamples, ReportSeries};
use fathom_store::{Point, Selector, Series, SeriesFilter, Since, Store};

use super::{MARGIN, judged, stored, thin};
use crate::history::{matching, rank, shown};
use crate::{ConductError, stores};

/// The number of newest points of each benchmark in the overview.
const NEWEST: usize = 60;
/// The number of series kept in memory with all their points: 10,000 points take 0.6 MB.
const KEPT: usize = 8;
/// The number of newest labelled records searched for versions.
const LABELLED: u32 = 200;

/// An open store. It is opened for reading only, and is read again only after it has changed.
pub struct Live {
    store: Store,
    names: Vec<String>,
    mark: String,
    /// All series of the store.
    series: Vec<Series>,
    overview: Option<Report>,
    kept: Vec<Kept>,
}

/// A series with what is needed to draw it.
struct Kept {
    number: i64,
    points: Vec<Point>,
    changes: Vec<ChangePoint>,
    /// The runs of the newest points.
    samples: Option<Vec<ReportSamples>>,
}

/// Which part of which series to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The benchmark, by the name in [`ReportBenchmark::shown`].
    pub benchmark: String,
    /// The metric; if absent, the one that represents the benchmark.
    pub metric: Option<String>,
    /// The first position.
    pub from: usize,
    /// The position after the last one.
    pub to: usize,
    /// The number of points that fit on the screen.
    pub most: usize,
    /// A revision, record or label whose point is always included.
    pub at: Option<String>,
}

impl Live {
    /// Opens the store that `asked` and `here` determine, to show the benchmarks that `names` matches, or all
    /// if it is empty.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn open(asked: Option<&str>, here: &Path, names: &[String]) -> Result<Live, ConductError> {
        Ok(Live {
            store: stores::open(asked, here)?,
            names: names.to_vec(),
            mark: String::new(),
            series: Vec::new(),
            overview: None,
            kept: Vec::new(),
        })
    }

    /// Returns the name of the store, without its password.
    pub fn name(&self) -> &str {
        self.store.name()
    }

    /// Returns a value that changes whenever anything in the store changes.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn mark(&mut self) -> Result<String, ConductError> {
        Ok(self.store.mark()?)
    }

    /// Discards cached data if the store has changed. The mark is taken first, so that the next call reads
    /// whatever is saved in the meantime.
    fn renew(&mut self) -> Result<(), ConductError> {
        let mark = self.store.mark()?;
        if mark != self.mark {
            self.kept.clear();
            self.overview = None;
            self.series = self.store.series(&SeriesFilter::default(), 0)?;
            self.mark = mark;
        }
        Ok(())
    }

    /// Returns the newest points of all benchmarks, and the mark of the store at that state.
    ///
    /// # Errors
    /// A name that matches nothing; errors of the store.
    pub fn overview(&mut self) -> Result<(&Report, &str), ConductError> {
        self.renew()?;
        let report = match self.overview.take() {
            Some(report) => report,
            None => self.read_overview()?,
        };
        Ok((self.overview.insert(report), &self.mark))
    }

    fn read_overview(&mut self) -> Result<Report, ConductError> {
        let mut report = self.empty();
        let chosen = stored::Chosen {
            names: &self.names,
            metric: None,
            newest: Some(NEWEST),
            others: 0,
        };
        let floors = stored::read(&mut self.store, &self.series, &chosen, &mut report)?;
        judged::judge(&mut report, None, &floors)?;
        report.baseline =
            format!("the previous label, or the first of the last {NEWEST} measurements");
        Ok(report)
    }

    /// Returns the main metric of each benchmark for the newest labelled records.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn versions(&mut self) -> Result<Report, ConductError> {
        self.renew()?;
        let mut report = self.empty();
        let heads = self.store.records(&Selector::Labelled(LABELLED))?;
        let Some(oldest) = heads.iter().map(|head| head.time).min() else {
            return Ok(report);
        };
        let named = matching(&mut self.store, &self.series, &self.names)?;
        let groups = stored::grouped(named, None)?;
        let numbers: Vec<i64> = groups.iter().map(|group| group[0].number).collect();
        let mut points = self.store.points_of(&numbers, &Since::Time(oldest))?;
        let wanted: HashSet<i64> = heads.iter().map(|head| head.number).collect();
        let places = stored::Places::new(&mut self.store, heads, &mut report)?;
        for one in groups
            .into_iter()
            .filter_map(|group| group.into_iter().next())
        {
            let mut points = points.remove(&one.number).unwrap_or_default();
            points.retain(|point| wanted.contains(&point.record));
            if !points.is_empty() {
                let mut benchmark = blank(&one);
                benchmark.series.push(places.series(one, &points));
                report.benchmarks.push(benchmark);
            }
        }
        Ok(report)
    }

    /// Returns one benchmark: as many points of one metric as fit on the screen, and the last two points of
    /// each other metric. Returns `None` if the store has no such benchmark or metric.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn part(&mut self, window: &Window) -> Result<Option<Report>, ConductError> {
        self.renew()?;
        let of_name = |one: &&Series| shown(one) == window.benchmark;
        let mut own: Vec<Series> = self.series.iter().filter(of_name).cloned().collect();
        own.sort_by_key(|one| rank(&one.metric));
        let wanted = |one: &Series| {
            let metric = window.metric.as_ref();
            metric.is_none_or(|metric| one.metric == *metric)
        };
        let Some(chosen) = own.iter().position(wanted) else {
            return Ok(None);
        };
        let asked = own.remove(chosen);
        let numbers: Vec<i64> = own.iter().map(|one| one.number).collect();
        let mut newest = self.store.newest(&numbers, 2)?;
        let place = self.keep(asked.number)?;
        let found = match &window.at {
            Some(at) => self.store.find(at).unwrap_or_default(),
            None => Vec::new(),
        };
        let Kept {
            points, changes, ..
        } = &self.kept[place];
        let is_found = |point: &Point| found.iter().any(|head| head.number == point.record);
        let numbered = in_window(points, window, points.iter().position(is_found));
        let total = points.len();
        let changes = changes.clone();
        let records = numbered.iter().map(|(_, point)| point.record);
        let of_others = newest.values().flatten().map(|point| point.record);
        let heads = self.store.heads(records.chain(of_others))?;
        let mut report = self.empty();
        let heads = heads.into_values().collect();
        let places = stored::Places::new(&mut self.store, heads, &mut report)?;
        let mut benchmark = blank(&asked);
        benchmark.series.push(ReportSeries {
            total,
            points: places.points(&numbered),
            changes,
            ..places.series(asked, &[])
        });
        benchmark.series.extend(own.into_iter().map(|one| {
            let points = newest.remove(&one.number).unwrap_or_default();
            places.series(one, &points)
        }));
        report.benchmarks.push(benchmark);
        match self.kept[place].samples.take() {
            Some(samples) => report.benchmarks[0].samples = samples,
            None => stored::samples(&mut self.store, &mut report)?,
        }
        self.kept[place].samples = Some(report.benchmarks[0].samples.clone());
        // Metrics keep their order, whichever one is requested.
        report.benchmarks[0].series[..=chosen].rotate_left(1);
        Ok(Some(report))
    }

    fn empty(&self) -> Report {
        Report {
            source: self.store.name().to_owned(),
            fathom_version: env!("CARGO_PKG_VERSION").to_owned(),
            margin: MARGIN,
            ..Report::default()
        }
    }

    /// Returns the index of a series in the cache, reading the series if needed.
    fn keep(&mut self, number: i64) -> Result<usize, ConductError> {
        if let Some(place) = self.kept.iter().position(|kept| kept.number == number) {
            return Ok(place);
        }
        let points = self.store.points(number, &Since::Start)?;
        let changes = changes(&points);
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push(Kept {
            number,
            points,
            changes,
            samples: None,
        });
        Ok(self.kept.len() - 1)
    }
}

/// Returns a benchmark without data.
fn blank(one: &Series) -> ReportBenchmark {
    ReportBenchmark {
        name: one.benchmark.clone(),
        parameters: one.parameters.clone(),
        series: Vec::new(),
        before: None,
        baseline: None,
        samples: Vec::new(),
    }
}

/// Returns the points to show, with their positions. The requested point and the last two, which are
/// compared, are always included.
fn in_window(points: &[Point], window: &Window, asked: Option<usize>) -> Vec<(usize, Point)> {
    let to = window.to.min(points.len());
    let from = window.from.min(to);
    let values: Vec<f64> = points[from..to].iter().map(|point| point.value).collect();
    let mut places: Vec<usize> = thin::thin(&values, window.most)
        .into_iter()
        .map(|place| from + place)
        .collect();
    places.extend(points.len().saturating_sub(2)..points.len());
    places.extend(asked);
    places.sort_unstable();
    places.dedup();
    places
        .into_iter()
        .map(|place| (place, points[place]))
        .collect()
}

fn changes(points: &[Point]) -> Vec<ChangePoint> {
    let series = ReportSeries {
        metric: String::new(),
        unit: String::new(),
        direction: None,
        meaning: String::new(),
        total: points.len(),
        points: points
            .iter()
            .enumerate()
            .map(|(index, point)| fathom_model::ReportPoint {
                index,
                measurement: 0,
                environment: point.environment as usize,
                runs: point.runs,
                value: point.value,
                low: point.low,
                high: point.high,
            })
            .collect(),
        changes: Vec::new(),
    };
    judged::changes(&series)
}
