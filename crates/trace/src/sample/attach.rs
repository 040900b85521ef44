//! Samples a running process.

use std::time::{Duration, SystemTime};

use super::observe::Sampler;
use crate::attach::{Found, Readings, Target, complete, limits, read_thread};
use crate::command::TraceOptions;
use crate::error::{TraceError, system};
use crate::perf::Recorder;
use crate::result::{Tier, Trace};
use crate::watch::now;

/// Samples the tree for a while and reports the observations. In the perf tier, also uses the kernel's
/// records.
pub(crate) fn attach(
    target: &Target,
    time: Duration,
    tier: Tier,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    let (mut found, mut before) = (Found::default(), Readings::default());
    found.search(target.pid);
    let mut recorder = match tier {
        Tier::Perf => Some(record(target, &mut found, options)?),
        _ => None,
    };
    let start = now();
    let limits = limits(time, options);
    for &(pid, tid) in &found.threads {
        // If nothing can be read, the thread has ended since it was found.
        let Some(reading) = read_thread(pid, tid) else {
            continue;
        };
        if let Some(recorder) = &mut recorder {
            recorder.there(pid, tid, &reading, start);
        }
        before.add(pid, tid, reading);
    }
    if let Some(recorder) = &mut recorder {
        recorder.begin(start);
        let since = target.began().unwrap_or_else(SystemTime::now);
        recorder.sample_there(found.processes.iter().map(|one| one.pid), since);
    }
    let mut sampler = Sampler::new(recorder, start, options);
    sampler.tree.attach(&mut found, start);

    // Sample at least once: on a busy machine, the time may already be over.
    let ended = loop {
        let ended = target.has_ended(limits.shorten(sampler.until_next()));
        sampler.sample();
        if ended || limits.reached() {
            break ended;
        }
    };
    let mut trace = sampler.finish(&[], now());
    complete(&mut trace, &before, target, &found, ended);
    trace.started_clock_ns = start;
    Ok(trace)
}

/// Records all threads of the tree, including those that threads not yet recorded create during the search.
fn record(
    target: &Target,
    found: &mut Found,
    options: &TraceOptions,
) -> Result<Recorder, TraceError> {
    const TRIES: u32 = 8;
    for _ in 0..TRIES {
        let tids: Vec<u32> = found.threads.iter().map(|one| one.1).collect();
        let mut recorder = Recorder::attach_to(&tids, options)?;
        found.search_all(target.pid, |_, tid| recorder.add(tid))?;
        // The records of threads that must not be followed are dropped with the recorder.
        if !found.take_left_out().iter().any(|one| one.has_rights) {
            return Ok(recorder);
        }
    }
    let error = std::io::Error::from_raw_os_error(libc::EACCES);
    Err(system("recording processes that keep gaining privileges")(
        error,
    ))
}
