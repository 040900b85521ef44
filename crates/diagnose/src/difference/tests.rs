//! Tests with synthetic runs whose difference is known.

use fathom_model::{Difference, DifferenceBy, DifferenceRow, OF_WALL, Run, TimeAccount};
use fathom_stacks::Frame;
use fathom_trace::{Activity, Cause};

use super::{Side, difference};
use crate::fake::{Fake, MS, ROOT, run};
use crate::observation::Observation;

/// Returns ten timed runs around the trace's length, in steps of `jitter`.
fn timed(fake: &Fake, jitter: u64) -> Vec<Run> {
    let middle = fake.run();
    let cpu = middle.cpu_ns;
    let of = |round: u32| Run {
        round,
        ..run(
            middle.wall_ns + (u64::from(round * 7 % 10)) * jitter,
            cpu + (u64::from(round * 7 % 10)) * jitter,
        )
    };
    (0..10).map(of).collect()
}

fn observed(mut fake: Fake, jitter: u64) -> Observation {
    fake.trace.accounts.user_ns = fake.run().cpu_ns;
    fake.observation(&timed(&fake, jitter))
}

fn between(a: &[Observation], b: &[Observation]) -> (Difference, [TimeAccount; 2]) {
    let side = |observations| Side { observations };
    let (difference, accounts) = difference(side(a), side(b)).unwrap();
    let ns = |milliseconds: f64| (milliseconds * 1e6).round() as i64;
    let rows: i64 = difference.parts().map(|row| ns(row.milliseconds)).sum();
    let whole = accounts[1].wall_ns as i64 - accounts[0].wall_ns as i64;
    assert_eq!(
        rows + ns(difference.not_explained),
        whole,
        "the rows add up"
    );
    (difference, accounts)
}

fn find<'d>(difference: &'d Difference, of: &str, part: &str) -> &'d DifferenceRow {
    let found = difference
        .rows
        .iter()
        .find(|row| row.of == of && row.part == part);
    found.unwrap_or_else(|| panic!("no {part} of {of}: {:?}", difference.rows))
}

fn sleeps(ms: u64) -> Fake {
    let mut fake = Fake::new(200 + ms);
    if ms > 0 {
        fake.wait_for(ROOT, "clock_nanosleep", None, (10, 10 + ms, 10 + ms), None);
        fake.calls("clock_nanosleep", None, 1, 0, 0);
    }
    fake
}

#[test]
fn an_added_sleep_is_a_row_with_its_call() {
    let (difference, _) = between(&[observed(sleeps(0), 0)], &[observed(sleeps(60), 0)]);
    let sleeping = find(&difference, OF_WALL, "sleeping");
    assert!((sleeping.milliseconds - 60.0).abs() < 0.01, "{sleeping:?}");
    let call = find(&difference, "sleeping", "clock_nanosleep");
    assert_eq!(call.by, DifferenceBy::Call);
    let count = call.count.as_ref().expect("calls are counted");
    assert_eq!((count.what.as_str(), count.a, count.b), ("calls", 0, 1));
    assert_eq!(difference.parts().count(), 1, "{:?}", difference.rows);
    assert!(difference.not_explained_share < 0.001);
    assert!(difference.wall.is_clear());
}

#[test]
fn code_without_symbols_is_told_apart_by_the_exported_function_before_it() {
    let side = |expanding: u64| {
        let mut fake = Fake::new(100 + expanding);
        for (after, ms) in [("execute_command", 100), ("expand_word", expanding)] {
            let frame = Frame {
                binary: "/bin/program".to_owned(),
                after: Some(after.to_owned()),
                offset: Some(0x40),
                ..Frame::default()
            };
            fake.stack(Activity::OwnCode, None, [frame], ms);
        }
        observed(fake, 0)
    };
    let (difference, _) = between(&[side(50)], &[side(450)]);
    let row = find(&difference, "user_code", "code after expand_word");
    assert!((row.milliseconds - 400.0).abs() < 1.0, "{row:?}");
}

#[test]
fn what_is_smaller_than_its_interval_is_left_out() {
    let computes = |ms| observed(Fake::new(ms), MS / 2);
    // The runs of each command vary by up to 4.5 ms.
    let (difference, _) = between(&[computes(200)], &[computes(201)]);
    assert_eq!(difference.rows, []);
    assert_eq!(difference.not_explained, 1.0);
    let (difference, _) = between(&[computes(200)], &[computes(230)]);
    assert_eq!(find(&difference, OF_WALL, "user_code").milliseconds, 30.0);
}

#[test]
fn a_part_that_differs_from_run_to_run_is_known_by_several() {
    let several = |all: [u64; 4]| {
        all.map(|ms| {
            let mut fake = Fake::new(300);
            fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 1, ms * 1000);
            // All have the same timed runs; only the breakdown differs.
            let mut timed = timed(&Fake::new(300), 0);
            timed.iter_mut().for_each(|run| run.cpu_ns = 200 * MS);
            fake.trace.accounts.user_ns = fake.run().cpu_ns;
            fake.observation(&timed)
        })
    };
    let slept = |a, b| {
        let (difference, _) = between(&several(a), &several(b));
        let mut rows = difference.parts().cloned();
        rows.find(|row| row.part == "sleeping")
    };
    // B sleeps 20 ms longer on average, and the time varies by 30 ms from run to run.
    assert_eq!(slept([50, 80, 50, 80], [70, 100, 70, 100]), None);
    let steady = slept([50, 51, 50, 51], [70, 71, 70, 71]).expect("it is known");
    assert!((15.0..25.0).contains(&steady.milliseconds), "{steady:?}");
}

#[test]
fn parts_that_are_too_small_one_by_one_are_a_row_together() {
    let side = |total: u64, reads: [u64; 2]| {
        reads.map(|ms| {
            let mut fake = Fake::new(total);
            fake.calls("read", Some(3), 1_000, 1, ms * 1_000);
            fake.descriptor(3, "/data/words");
            observed(fake, 0)
        })
    };
    // The reads of B take 5 ms longer on average, and the time varies by 40 ms from run to run.
    let (difference, _) = between(&side(200, [60, 100]), &side(210, [65, 105]));
    let rows: Vec<_> = difference.parts().collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].by, DifferenceBy::Together);
    assert_eq!(rows[0].part, "other_cpu_time");
    assert!((rows[0].milliseconds - 10.0).abs() < 0.1, "{rows:?}");
    assert!(difference.not_explained_share < 0.001, "{difference:?}");
}

/// Returns four observed runs that vary by more than the two commands differ, as on a busy machine. `calls`
/// is the number of calls in each.
fn disturbed(call: &str, calls: [u64; 4], us: u64, fixed_ms: u64) -> [Observation; 4] {
    let each = [1, 9, 3, 7];
    [0, 1, 2, 3].map(|at| {
        let mut fake = Fake::new(fixed_ms + 60);
        let ns = us * 1_000 * each[at] / 5;
        match call {
            "read" => drop(fake.calls("read", Some(3), calls[at], 1, ns)),
            _ => {
                fake.calls(call, None, calls[at], 0, 0);
                fake.waits(
                    Some(call),
                    None,
                    Cause::Asleep,
                    1,
                    ns / 1_000 * calls[at].max(1),
                );
            }
        }
        fake.descriptor(3, "/data/words");
        observed(fake, 9 * MS)
    })
}

#[test]
fn what_is_counted_is_a_row_however_the_times_differ() {
    let reads = |calls| disturbed("read", calls, 1, 200);
    let (few, many) = (reads([1_000; 4]), reads([20_000; 4]));
    let (difference, _) = between(&few, &many);
    let row = find(&difference, "kernel_io", "read");
    assert!(row.is_clear(), "{row:?}");
    // Each of the 19,000 additional reads took from 0.2 to 1.8 us.
    assert!(row.low < 5.0 && row.high > 30.0, "{row:?}");
    let count = row.count.as_ref().expect("calls are counted");
    assert_eq!((count.a, count.b), (1_000, 20_000));
    assert!(find(&difference, OF_WALL, "kernel_io").milliseconds > 10.0);
    // In the other direction, the result is the opposite.
    let (difference, _) = between(&many, &few);
    assert!(find(&difference, OF_WALL, "kernel_io").milliseconds < -10.0);
    // One more call doesn't explain that much time, and neither does a count that varies from run to run.
    for calls in [[1_001; 4], [20_000, 20_000, 20_000, 19_999]] {
        let (difference, _) = between(&few, &reads(calls));
        let row = difference.rows.iter().find(|row| row.of == "kernel_io");
        assert_eq!(row, None, "{calls:?}");
    }
}

#[test]
fn what_one_run_of_each_counts_must_be_ten_times_as_much() {
    // The timed runs of both commands vary by more than the reads take.
    let read = |calls| {
        let mut fake = Fake::new(260);
        fake.calls("read", Some(3), calls, 1, 1_000);
        observed(fake, 90 * MS)
    };
    let row = |calls| {
        let (difference, _) = between(&[read(1_000)], &[read(calls)]);
        let mut rows = difference.rows.into_iter();
        rows.find(|row| row.part == "read")
    };
    assert_eq!(row(9_000), None);
    let row = row(20_000).expect("twenty times as many reads");
    assert!(row.low > 0.0 && row.low < row.milliseconds, "{row:?}");
}

#[test]
fn a_wait_is_counted_only_where_the_other_has_none() {
    let naps = |calls| disturbed("clock_nanosleep", calls, 10_000, 200);
    let slept = |a, b| {
        let (difference, _) = between(&naps(a), &naps(b));
        let mut rows = difference.parts().cloned();
        rows.find(|row| row.part == "sleeping")
    };
    assert_eq!(slept([2; 4], [4; 4]), None);
    let row = slept([0; 4], [4; 4]).expect("only one of them sleeps");
    assert!(row.low > 0.0 && row.low < row.milliseconds, "{row:?}");
}

#[test]
fn a_child_that_only_one_starts_is_a_row_of_its_own() {
    let mut fake = Fake::new(300);
    fake.child(200, 100, 190, 90);
    fake.wait_for(200, "clock_nanosleep", None, (110, 150, 150), None);
    fake.wait_for(ROOT, "wait4", None, (100, 190, 190), Some(200));
    let (difference, _) = between(&[observed(Fake::new(210), 0)], &[observed(fake, 0)]);
    let child = find(&difference, OF_WALL, "child");
    assert_eq!(child.by, DifferenceBy::Child);
    assert!((child.milliseconds - 90.0).abs() < 1.0, "{child:?}");
    let count = child.count.as_ref().expect("processes are counted");
    assert_eq!((count.what.as_str(), count.a, count.b), ("processes", 0, 1));
    let slept = find(&difference, "child", "sleeping");
    assert!((slept.milliseconds - 40.0).abs() < 1.0, "{slept:?}");
    let twice = difference.parts().find(|row| row.part == "sleeping");
    assert_eq!(twice, None, "it is counted once");
}

#[test]
fn the_function_that_got_slower_is_named() {
    let computes = |slow: u64| {
        let mut fake = Fake::new(200 + slow);
        fake.in_function(ROOT, "/bin/program", "parse", 1_000);
        fake.in_function(ROOT, "/bin/program", "check", 1_000 + 10 * slow);
        observed(fake, 0)
    };
    let (difference, _) = between(&[computes(0)], &[computes(100)]);
    let function = find(&difference, "user_code", "check");
    assert_eq!(function.by, DifferenceBy::Function);
    assert_eq!(function.file.as_deref(), Some("/bin/program"));
    assert!((function.milliseconds - 100.0).abs() < 1.0, "{function:?}");
    let parse = difference.rows.iter().find(|row| row.part == "parse");
    assert_eq!(parse, None, "it takes as long as before");
}

#[test]
fn page_faults_and_calls_are_counted() {
    let faulting = |faults: u64| {
        let mut fake = Fake::new(200);
        fake.calls("read", Some(3), faults, 1, 1_000).fd = Some(3);
        fake.descriptor(3, "/data/words");
        observed(fake, 0)
    };
    let (difference, _) = between(&[faulting(1_000)], &[faulting(51_000)]);
    let reads = find(&difference, "kernel_io", "read");
    let count = reads.count.as_ref().expect("calls are counted");
    assert_eq!((count.a, count.b), (1_000, 51_000));
    assert_eq!(reads.file.as_deref(), Some("/data/words"));
    // The command takes as long as before: it reads more and computes less.
    assert!(!difference.wall.is_clear());
    let own = find(&difference, OF_WALL, "user_code").milliseconds;
    assert!((own + find(&difference, OF_WALL, "kernel_io").milliseconds).abs() < 0.001);
}

/// Generates pseudorandom numbers, which are the same each time.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

#[test]
fn rows_add_up_whatever_the_runs_are_made_of() {
    const CALLS: [&str; 5] = ["read", "clock_nanosleep", "futex", "fsync", "poll"];
    for seed in 0..300 {
        let mut number = numbers(seed);
        let mut side = || -> Vec<Observation> {
            let observed_runs = 1 + number(4);
            let length = 50 + number(500);
            let timed = timed(&Fake::new(length), number(MS));
            let mut one = || {
                let mut fake = Fake::new(length + number(20));
                for _ in 0..number(6) {
                    let call = CALLS[number(5) as usize];
                    let fd = Some(number(5) as i32);
                    fake.waits(Some(call), fd, Cause::Asleep, number(20), number(3_000));
                    fake.calls(call, fd, number(9_000), number(5_000), number(2_000));
                }
                for pid in 0..number(4) as u32 {
                    let from = number(length);
                    fake.child(200 + pid, from, from + number(50), number(20));
                }
                fake.in_function(ROOT, "/bin/program", "parse", number(90));
                fake.trace.accounts.user_ns = fake.run().cpu_ns + number(20 * MS);
                fake.observation(&timed)
            };
            (0..observed_runs).map(|_| one()).collect()
        };
        let (a, b) = (side(), side());
        let (there, accounts) = between(&a, &b);
        for account in &accounts {
            let parts: u64 = account.parts.iter().map(|part| part.ns).sum();
            assert_eq!(parts, account.wall_ns, "{seed}");
        }
        let (back, _) = between(&b, &a);
        let opposite = |one: &Difference| -one.not_explained;
        assert_eq!(there.not_explained, opposite(&back), "{seed}");
    }
}

#[test]
fn functions_are_told_apart_by_who_called_them() {
    use fathom_stacks::Frame;
    // Two revisions, each in a different folder.
    let with = |program: &str, ms: u64, of_check: u64| {
        let mut fake = Fake::new(ms);
        fake.trace.processes[0].execs[0].path = program.to_owned();
        for (caller, samples) in [("load", 150), ("check", of_check)] {
            let frame = |binary: &str, name: &str| Frame {
                binary: binary.to_owned(),
                function: Some(name.to_owned()),
                ..Frame::default()
            };
            let frames = [
                frame(program, "main"),
                frame(program, caller),
                frame("/usr/lib/libc.so.6", "regexec"),
                frame("/usr/lib/libc.so.6", "re_search"),
            ];
            fake.stack(fathom_trace::Activity::OwnCode, None, frames, samples);
        }
        observed(fake, 0)
    };
    let (difference, _) = between(
        &[with("/base/program", 200, 50)],
        &[with("/head/program", 400, 250)],
    );
    let row = find(&difference, "user_code", "regexec");
    assert_eq!(row.callers[0].function.as_deref(), Some("check"));
    assert!((row.milliseconds - 200.0).abs() < 1.0, "{row:?}");
}
