//! Tests what the memory passed to calls shows.
#![cfg(target_os = "linux")]

mod common;

use common::{available, run};
use fathom_trace::{Lines, Tier, Trace};

const TIERS: [Tier; 2] = [Tier::Kernel, Tier::Ptrace];

/// Returns the number of polls on a descriptor that ended because their timeout expired.
fn limits(trace: &Trace, calls: &[&str], fd: Option<i32>) -> u64 {
    let rows = trace.syscalls.iter();
    let polls = rows.filter(|row| calls.contains(&row.name.as_str()) && row.fd == fd);
    let ends = polls.filter_map(|row| row.polls);
    ends.map(|ends| ends.by_limit).sum()
}

#[test]
fn writes_that_end_a_line_are_distinguished_from_pieces() {
    for tier in TIERS.into_iter().filter(|tier| available(*tier)) {
        let written = |command: &str| {
            let script = format!("for i in 1 2 3 4 5 6 7 8 9 10; do {command}; done");
            let trace = run(tier, &["sh", "-c", &script]);
            let rows = trace.syscalls.iter();
            let writes = rows.filter(|row| row.name == "write" && row.fd == Some(1));
            let lines: Vec<Lines> = writes.filter_map(|row| row.lines).collect();
            lines.iter().fold((0, 0), |(examined, ended), row| {
                (examined + row.examined, ended + row.ended)
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
        let limits = |fd| limits(&trace, &["poll", "ppoll"], fd);
        assert_eq!((limits(Some(77)), limits(None)), (3, 3), "{tier:?}");
    }
}

#[test]
fn a_select_of_one_descriptor_is_filed_under_that() {
    let script = "import os, select\n\
                  out, end = os.pipe()\n\
                  for high in 50, 63, 64: os.dup2(out, high)\n\
                  os.dup2(end, 51)\n\
                  os.set_blocking(51, False)\n\
                  for i in range(3): select.select([50], [], [], 0.002)\n\
                  for i in range(4): select.select([63], [], [], 0.002)\n\
                  select.select([50, 63], [], [], 0.002)\n\
                  select.select([64], [], [], 0.002)\n\
                  select.select([], [], [], 0.002)\n\
                  try:\n\
                  \twhile True: os.write(51, bytes(4096))\n\
                  except BlockingIOError: pass\n\
                  for i in range(2): select.select([], [51], [], 0.002)\n\
                  empty, also = os.pipe()\n\
                  select.select([empty], [51], [], 0.002)\n";
    for tier in TIERS.into_iter().filter(|tier| available(*tier)) {
        let trace = run(tier, &["python3", "-c", script]);
        let limits = |fd| limits(&trace, &["select", "pselect6"], fd);
        let reported = (limits(Some(50)), limits(Some(63)), limits(Some(51)));
        assert_eq!((reported, limits(None)), ((3, 4, 2), 4), "{tier:?}");
    }
}

#[test]
fn reads_that_go_on_where_the_one_before_ended_are_distinguished_from_those_elsewhere() {
    let script = "import os\n\
                  f = os.open('/proc/self/exe', os.O_RDONLY)\n\
                  os.dup2(f, 60)\n\
                  os.dup2(f, 61)\n\
                  for i in range(10): os.pread(60, 24, 24 * i)\n\
                  for i in range(10): os.pread(61, 24, 9000 * i)\n\
                  os.read(60, 5)\n";
    for tier in TIERS.into_iter().filter(|tier| available(*tier)) {
        let trace = run(tier, &["python3", "-c", script]);
        let reported = |name, fd| {
            let mut rows = trace.syscalls.iter();
            let row = rows.find(|row| row.name == name && row.fd == Some(fd));
            row.expect("it was called").went_on
        };
        assert_eq!(reported("pread64", 60), Some(10), "{tier:?}");
        // The first call begins at offset 0.
        assert_eq!(reported("pread64", 61), Some(1), "{tier:?}");
        assert_eq!(reported("read", 60), None, "{tier:?}");
    }
}
