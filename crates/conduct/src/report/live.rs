//! A store that stays open: an overview of it, and one series at a time as far as a screen shows it.

use std::path::Path;

use fathom_model::{ChangePoint, Report, ReportBenchmark, ReportSeries};
use fathom_store::{Point, Series, SeriesFilter, Since, Store};

use super::{MARGIN, judged, stored, thin};
use crate::{ConductError, stores};

/// Newest points of each benchmark that the overview rests on.
const NEWEST: usize = 60;
/// Series that are kept in memory with all their points: 10,000 take 0.6 MB.
const KEPT: usize = 8;

/// An open store. It is only read.
pub struct Live {
    store: Store,
    kept: Vec<Kept>,
}

/// A series as it was when the store had this mark.
struct Kept {
    mark: String,
    number: i64,
    points: Vec<Point>,
    changes: Vec<ChangePoint>,
}

/// Which part of which series.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The benchmark as [`ReportBenchmark::shown`] names it.
    pub benchmark: String,
    /// The metric; the one that stands for the benchmark if absent.
    pub metric: Option<String>,
    /// First position.
    pub from: usize,
    /// Position behind the last one.
    pub to: usize,
    /// Points that the screen has room for.
    pub most: usize,
}

impl Live {
    /// Opens the store that is meant in `here`.
    ///
    /// # Errors
    /// Those of the store.
    pub fn open(asked: Option<&str>, here: &Path) -> Result<Live, ConductError> {
        Ok(Live {
            store: stores::open(asked, here)?,
            kept: Vec::new(),
        })
    }

    /// The store, without its password.
    pub fn name(&self) -> &str {
        self.store.name()
    }

    /// What changes when anything in the store does.
    ///
    /// # Errors
    /// Those of the store.
    pub fn mark(&mut self) -> Result<String, ConductError> {
        Ok(self.store.mark()?)
    }

    /// All benchmarks by their newest points.
    ///
    /// # Errors
    /// Those of the store.
    pub fn overview(&mut self, names: &[String]) -> Result<Report, ConductError> {
        let mut report = self.empty();
        let chosen = stored::Chosen {
            names,
            metric: None,
            newest: Some(NEWEST),
            others: 0,
        };
        let floors = stored::read(&mut self.store, &chosen, &mut report)?;
        judged::judge(&mut report, None, &floors)?;
        Ok(report)
    }

    /// One benchmark: the points of one metric that a screen shows, the last two of the others.
    /// `None` if the store has no such benchmark or metric.
    ///
    /// # Errors
    /// Those of the store.
    pub fn part(&mut self, window: &Window) -> Result<Option<Report>, ConductError> {
        let all = self.store.series(&SeriesFilter::default(), 0)?;
        let of_name = |one: &&Series| shown(one) == window.benchmark;
        let mut own: Vec<Series> = all.iter().filter(of_name).cloned().collect();
        own.sort_by_key(|one| match &window.metric {
            Some(metric) => usize::from(one.metric != *metric),
            None => crate::history::rank(&one.metric),
        });
        let wanted = |one: &Series| {
            window
                .metric
                .as_ref()
                .is_none_or(|metric| one.metric == *metric)
        };
        if !own.first().is_some_and(wanted) {
            return Ok(None);
        }
        let numbers: Vec<i64> = own[1..].iter().map(|one| one.number).collect();
        let mut newest = self.store.newest(&numbers, 2)?;
        let kept = self.keep(own[0].number)?;
        let (points, changes) = (&kept.points, kept.changes.clone());
        let to = window.to.min(points.len());
        let from = window.from.min(to);
        let values: Vec<f64> = points[from..to].iter().map(|point| point.value).collect();
        let mut shown_points: Vec<(usize, Point)> = thin::thin(&values, window.most)
            .into_iter()
            .map(|place| (from + place, points[from + place]))
            .collect();
        // The last two are compared, whatever part is shown.
        let last = points.len().saturating_sub(2);
        for (place, point) in points.iter().enumerate().skip(last) {
            if !shown_points.iter().any(|(index, _)| *index == place) {
                shown_points.push((place, *point));
            }
        }
        shown_points.sort_by_key(|(index, _)| *index);
        let total = points.len();
        let records = shown_points.iter().map(|(_, point)| point.record);
        let of_others = newest.values().flatten().map(|point| point.record);
        let heads = self.store.heads(records.chain(of_others))?;
        let mut report = self.empty();
        let places =
            stored::Places::new(&mut self.store, heads.into_values().collect(), &mut report)?;
        let mut benchmark = ReportBenchmark {
            name: own[0].benchmark.clone(),
            parameters: own[0].parameters.clone(),
            series: Vec::new(),
            before: None,
            baseline: None,
            samples: Vec::new(),
        };
        for (place, one) in own.into_iter().enumerate() {
            let numbered: Vec<(usize, Point)> = match place {
                0 => shown_points.clone(),
                _ => {
                    let found = newest.remove(&one.number).unwrap_or_default();
                    found.into_iter().enumerate().collect()
                }
            };
            benchmark.series.push(ReportSeries {
                metric: one.metric,
                unit: one.unit,
                direction: one.direction,
                meaning: one.meaning,
                total: if place == 0 { total } else { numbered.len() },
                points: places.points(&numbered),
                changes: if place == 0 {
                    changes.clone()
                } else {
                    Vec::new()
                },
            });
        }
        report.benchmarks.push(benchmark);
        stored::samples(&mut self.store, &mut report)?;
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

    /// All points of a series and its changes, read again only if the store changed.
    fn keep(&mut self, number: i64) -> Result<&Kept, ConductError> {
        let mark = self.store.mark()?;
        self.kept.retain(|kept| kept.mark == mark);
        let place = match self.kept.iter().position(|kept| kept.number == number) {
            Some(place) => place,
            None => {
                let points = self.store.points(number, &Since::Start)?;
                let changes = changes(&points);
                if self.kept.len() == KEPT {
                    self.kept.remove(0);
                }
                self.kept.push(Kept {
                    mark,
                    number,
                    points,
                    changes,
                });
                self.kept.len() - 1
            }
        };
        Ok(&self.kept[place])
    }
}

fn shown(one: &Series) -> String {
    crate::history::shown(one)
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
