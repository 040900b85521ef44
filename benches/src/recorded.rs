//! Runs of 13 programs, as recorded by `record.py` in recorded/REGIME.txt.gz.

use std::collections::BTreeMap;
use std::io::Read;

use crate::Result;

/// Number of arms of each program: the same command runs four times in each round.
pub(crate) const ARMS: usize = 4;

/// Values of one clock for each round, in seconds.
type Clock = Vec<f64>;

/// One program, with the values of each arm by round.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Wall time.
    pub wall: [Clock; ARMS],
    /// Wall time minus waits for a CPU, with 0 for unknown values; `None` if most are unknown.
    pub cpu_wait_free: Option<[Clock; ARMS]>,
}

/// A machine in one state.
#[derive(Debug, Clone)]
pub(crate) struct Regime {
    pub name: &'static str,
    pub programs: Vec<Program>,
}

impl Regime {
    pub(crate) fn rounds(&self) -> usize {
        self.programs
            .first()
            .map_or(0, |program| program.wall[0].len())
    }
}

/// Returns whether at most half of the values are missing (0), as `fathom bench` requires of a clock.
fn mostly_known(arms: &[Clock; ARMS]) -> bool {
    let all = arms.iter().flatten();
    2 * all.clone().filter(|value| **value == 0.0).count() <= all.count()
}

/// Returns all recorded regimes.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn regimes() -> Result<Vec<Regime>> {
    let files: [(&'static str, &[u8]); 3] = [
        ("quiet", include_bytes!("../recorded/quiet.txt.gz")),
        (
            "periodic load",
            include_bytes!("../recorded/periodic.txt.gz"),
        ),
        ("all CPUs busy", include_bytes!("../recorded/busy.txt.gz")),
    ];
    files
        .into_iter()
        .map(|(name, packed)| read(name, packed))
        .collect()
}

fn read(name: &'static str, packed: &[u8]) -> Result<Regime> {
    let damaged = |what: &str| format!("recorded runs, {name}: {what}");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut text)
        .map_err(|error| damaged(&error.to_string()))?;
    let mut rows: BTreeMap<(String, bool), [Clock; ARMS]> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().ok_or_else(|| damaged("a line is too short"));
        let (program, arm, clock) = (word()?.to_owned(), word()?, word()?);
        let arm: usize = arm.parse().map_err(|_| damaged("an arm is not a number"))?;
        let values = words.map(|value| value.parse::<f64>().map(|micro| micro / 1e6));
        let values = values.collect::<std::result::Result<Clock, _>>();
        let arms = rows.entry((program, clock == "wall")).or_default();
        *arms
            .get_mut(arm)
            .ok_or_else(|| damaged("an arm too many"))? =
            values.map_err(|_| damaged("a value is not a number"))?;
    }
    let mut programs = Vec::new();
    for ((program, is_wall), wall) in &rows {
        if *is_wall {
            let free = rows.get(&(program.clone(), false)).cloned();
            programs.push(Program {
                wall: wall.clone(),
                cpu_wait_free: free.filter(mostly_known),
            });
        }
    }
    Ok(Regime { name, programs })
}
