//! What is told of calls by a look at the memory that they are given.
#![cfg(target_os = "linux")]

mod common;

use common::{available, run};
use fathom_trace::{Lines, Tier};

const TIERS: [Tier; 2] = [Tier::Kernel, Tier::Stops];

#[test]
fn writes_that_end_a_line_are_told_from_pieces() {
    for tier in TIERS.into_iter().filter(|tier| available(*tier)) {
        let written = |command: &str| {
            let script = format!("for i in 1 2 3 4 5 6 7 8 9 10; do {command}; done");
            let trace = run(tier, &["sh", "-c", &script]);
            let rows = trace.syscalls.iter();
            let writes = rows.filter(|row| row.name == "write" && row.fd == Some(1));
            let lines: Vec<Lines> = writes.filter_map(|row| row.lines).collect();
            lines.iter().fold((0, 0), |(looked_at, ended), row| {
                (looked_at + row.looked_at, ended + row.ended)
            })
        };
        assert_eq!(written("echo word"), (10, 10), "{tier:?}");
        assert_eq!(written("printf word"), (10, 0), "{tier:?}");
        assert_eq!(written("printf '\\nword'"), (10, 0), "{tier:?}");
    }
}

#[test]
fn a_poll_of_one_descriptor_is_filed_under_that() {
    let script = "import os, select\n\
                  pipes = [os.pipe() for i in range(2)]\n\
                  one, both = select.poll(), select.poll()\n\
                  os.dup2(pipes[0][0], 77)\n\
                  one.register(77, select.POLLIN)\n\
                  both.register(77, select.POLLIN)\n\
                  both.register(pipes[1][0], select.POLLIN)\n\
                  for i in range(3): one.poll(2)\n\
                  for i in range(2): both.poll(2)\n\
                  select.poll().poll(1)\n";
    for tier in TIERS.into_iter().filter(|tier| available(*tier)) {
        let trace = run(tier, &["python3", "-c", script]);
        let limits = |fd| {
            let rows = trace.syscalls.iter();
            let polls = rows.filter(|row| row.name == "poll" && row.fd == fd);
            polls
                .filter_map(|row| row.polls)
                .map(|ends| ends.by_limit)
                .sum::<u64>()
        };
        assert_eq!((limits(Some(77)), limits(None)), (3, 3), "{tier:?}");
    }
}
