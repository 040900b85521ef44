//! Pairs the series of two sides.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use fathom_model::{Metric, NotCompared, PLACE};

use super::side::{Side, SideSeries};

type Pair<'s> = (Cow<'s, SideSeries>, Cow<'s, SideSeries>);

/// Pairs of base and head series that measure the same quantity, and the series without a partner.
pub(super) struct Pairs<'s> {
    pub(super) found: Vec<Pair<'s>>,
    pub(super) left_out: Vec<NotCompared>,
    pub(super) warning: Option<String>,
}

type Place<'s> = (&'s str, &'s [(String, String)], &'s str);

fn place(one: &SideSeries) -> Place<'_> {
    (&one.benchmark, &one.parameters, &one.metric)
}

/// Returns the key without the place, which distinguishes equal names in one file.
fn unplaced(one: &SideSeries) -> Place<'_> {
    let (benchmark, parameters, metric) = place(one);
    match parameters.split_last() {
        Some(((name, _), before)) if name == PLACE => (benchmark, before, metric),
        _ => (benchmark, parameters, metric),
    }
}

/// Counts how often each name occurs in a file. A place is only taken into account if there is also a series
/// of the same name without one; otherwise the place is a parameter of the tool.
fn times(side: &Side) -> HashMap<Place<'_>, usize> {
    let mut times: HashMap<Place<'_>, usize> =
        side.series.iter().map(|one| (place(one), 1)).collect();
    for one in &side.series {
        let (own, first) = (place(one), unplaced(one));
        if own != first
            && let Some(count) = times.get_mut(&first)
        {
            *count += 1;
        }
    }
    times
}

/// Pairs the series. If no series has a partner and each side has one benchmark, those two are paired,
/// because the files are probably of two programs.
pub(super) fn of<'s>(base: &'s Side, head: &'s Side) -> Pairs<'s> {
    let mut pairs = Pairs {
        found: Vec::new(),
        left_out: Vec::new(),
        warning: None,
    };
    let at_head: HashMap<Place<'_>, &SideSeries> =
        head.series.iter().map(|one| (place(one), one)).collect();
    let at_base: HashMap<Place<'_>, &SideSeries> =
        base.series.iter().map(|one| (place(one), one)).collect();
    let (before, after) = (times(base), times(head));
    let files = base.about.file.is_some() && head.about.file.is_some();
    // If a name occurs twice in a file, it is unknown which of the two matches the other file's series.
    let ambiguous = |one: &SideSeries| {
        let name = unplaced(one);
        let (here, there) = (before.get(&name)?, after.get(&name)?);
        (files && here != there).then(|| {
            format!(
                "ambiguous: {} has {here} with that name, and {} has {there}",
                base.about.asked, head.about.asked
            )
        })
    };
    let mut used: [HashSet<Place<'_>>; 2] = Default::default();
    for one in &base.series {
        if ambiguous(one).is_some() {
            continue;
        }
        let same = at_head.get(&place(one)).filter(|other| other.is_same(one));
        let found = match same {
            Some(other) => Some((place(other), (Cow::Borrowed(one), Cow::Borrowed(*other)))),
            None => on_one_clock(one, &at_head),
        };
        if let Some((at, pair)) = found {
            used[0].insert(place(one));
            used[1].insert(at);
            pairs.found.push(pair);
        }
    }
    if pairs.found.is_empty()
        && let ([one], [other]) = (base.series.as_slice(), head.series.as_slice())
        && one.metric == other.metric
        && one.unit == other.unit
    {
        pairs.warning = Some(format!(
            "the benchmarks have different names: {:?} and {:?}",
            one.benchmark, other.benchmark
        ));
        pairs.found.push((Cow::Borrowed(one), Cow::Borrowed(other)));
        return pairs;
    }
    for (side, others, used) in [(base, &at_head, &used[0]), (head, &at_base, &used[1])] {
        for one in side.series.iter().filter(|one| !used.contains(&place(one))) {
            let other = others.get(&place(one));
            let asked = &side.about.asked;
            let why = match (ambiguous(one), other) {
                (Some(why), _) => why,
                (None, Some(other)) => {
                    format!(
                        "its unit in {asked} is {:?}, not {:?}",
                        one.unit, other.unit
                    )
                }
                (None, None) => format!("only {asked} has it"),
            };
            pairs.left_out.push(one.left_out(why));
        }
    }
    pairs
}

/// Handles the case that one side has wall time and the other has wait-free time: both use the wait-free time
/// if the first side has it too.
fn on_one_clock<'s>(
    one: &'s SideSeries,
    at_head: &HashMap<Place<'s>, &'s SideSeries>,
) -> Option<(Place<'s>, Pair<'s>)> {
    let (wall, wait_free) = (Metric::Wall.name(), Metric::Undisturbed.name());
    let at = |metric: &'static str| {
        let other = *at_head.get(&(&*one.benchmark, &*one.parameters, metric))?;
        Some((place(other), other))
    };
    if one.metric == wall {
        let (at, other) = at(wait_free)?;
        return Some((at, (Cow::Owned(one.without_waits()?), Cow::Borrowed(other))));
    }
    if one.metric == wait_free {
        let (at, other) = at(wall)?;
        return Some((at, (Cow::Borrowed(one), Cow::Owned(other.without_waits()?))));
    }
    None
}
