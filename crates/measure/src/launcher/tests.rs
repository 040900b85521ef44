//! Tests of the launcher under conditions that no command line creates.

use super::*;

/// Runs a shell script once.
fn run(launcher: &mut Launcher, script: &str) -> (Answer, Ended) {
    let words: [&[u8]; 3] = [b"sh", b"-c", script.as_bytes()];
    let order = Order {
        benchmark: 0,
        program: Path::new("/bin/sh"),
        arguments: &Block::new(words).unwrap(),
        environment: &Block::new([b"PATH=/usr/bin:/bin".as_slice()]).unwrap(),
        own_environment: &Block::default(),
        directory: Path::new("/"),
        input: None,
        output: None,
        output_fd: fd::NULL,
        error_fd: fd::NULL,
        cpu_mask: &[],
        filter: None,
        mounts: &[],
        groups: &[],
        record_head: "{",
        ends_round: true,
    };
    let terms = Terms {
        timeout: None,
        budget: Duration::MAX,
        longest: Duration::MAX,
        left_before: 0,
        began_ns: now_ns(),
        follows_a_stop: false,
    };
    launcher.run(&[order], terms).unwrap().remove(0)
}

#[test]
fn a_record_that_may_not_grow_ends_no_run() {
    let record = tempfile::tempfile().unwrap();
    let (mut launcher, _pipes) = Launcher::start(Some(&record), None).unwrap();
    let limit = libc::rlimit {
        rlim_cur: 16,
        rlim_max: 16,
    };
    // SAFETY: a child of ours; a live value, and a null pointer for the optional one.
    let set = unsafe {
        libc::prlimit(
            launcher.process.id(),
            libc::RLIMIT_FSIZE,
            &raw const limit,
            std::ptr::null_mut(),
        )
    };
    assert_eq!(set, 0);
    // The second run starts after a record could not be written.
    let script =
        "ignored=$(sed -n s/SigIgn:.//p /proc/self/status); [ $((0x$ignored & 0x1000000)) = 0 ]";
    for _ in 0..2 {
        let (answer, ended) = run(&mut launcher, script);
        assert_eq!((answer.failed_step, answer.status), (step::NONE, 0));
        assert_eq!(ended, Ended::ByItself);
    }
    assert!(record.metadata().unwrap().len() <= 16);
}
