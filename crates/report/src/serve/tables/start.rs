//! Tables of launches.

use fathom_model::{ServeRecord, SlowLaunch};

use super::Kind::{Number, Words};
use super::{Rows, time_ms, whole};
use crate::format_bytes;
use crate::page::Cell;
use crate::serve::cold::{self, Start};

/// Every rung of every start.
pub(in crate::serve) fn start(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let columns = [
        ("from launch to", Words),
        ("min", Number),
        ("p50", Number),
        ("p90", Number),
        ("p99", Number),
        ("max", Number),
    ];
    let mut rows = Rows::new(record, "From launch to first answer", &columns);
    for (server, cold, state) in starts {
        for (name, spread) in cold::rungs(cold) {
            let p99 = match spread.p99 {
                None => Cell::none("it takes 100 launches"),
                p99 => time_ms(p99),
            };
            rows.add(
                *server,
                vec![
                    Cell::words(&format!("{name}{state}")),
                    time_ms(Some(spread.min)),
                    time_ms(Some(spread.p50)),
                    time_ms(Some(spread.p90)),
                    p99,
                    time_ms(Some(spread.max)),
                ],
            );
        }
    }
    rows.html()
}

/// Every launch, and why it was slow.
pub(in crate::serve) fn launches(record: &ServeRecord, starts: &[Start<'_>]) -> String {
    let columns = [
        ("launch", Number),
        ("listening", Number),
        ("first byte", Number),
        ("whole answer", Number),
        ("CPU time", Number),
        ("waited for a CPU", Number),
        ("read", Number),
        ("slow, because it", Words),
    ];
    let mut rows = Rows::new(record, "Every launch", &columns);
    for (server, cold, _) in starts {
        for run in &cold.runs {
            let listening = match run.listening_ms {
                None => Cell::none("it was never seen to listen"),
                listening => time_ms(listening),
            };
            rows.add(
                *server,
                vec![
                    whole(u64::from(run.position) + 1),
                    listening,
                    time_ms(Some(run.first_byte_ms)),
                    time_ms(Some(run.ready_ms)),
                    time_ms(Some(run.cpu_ms)),
                    time_ms(Some(run.run_queue_wait_ms)),
                    Cell::number(&format_bytes(run.read_bytes as f64), run.read_bytes as f64),
                    Cell::words(slow(run.slow)),
                ],
            );
        }
    }
    rows.html()
}

fn slow(why: Option<SlowLaunch>) -> &'static str {
    match why {
        None => "",
        Some(SlowLaunch::WaitedForCpu) => "waited for a CPU",
        Some(SlowLaunch::WaitedForDisk) => "read from the disk",
        Some(SlowLaunch::WorkedLonger) => "worked longer",
        Some(SlowLaunch::Other) => "slept longer",
    }
}
