//! Tests of how waits are attributed, with synthetic timelines.

use fathom_model::{TimeAccount, TimeCategory};

use crate::fake::{Fake, MS, ROOT};

fn account(fake: &Fake) -> TimeAccount {
    let account = crate::diagnose(&fake.observation(&[])).account;
    let sum: u64 = account.parts.iter().map(|part| part.ns).sum();
    assert_eq!(sum, fake.trace.duration_ns, "the parts add up");
    account
}

fn is(account: &TimeAccount, spent: TimeCategory, ms: u64) {
    let ns = account.ns(spent);
    assert!(
        ns.abs_diff(ms * MS) < 1000,
        "{spent:?} is {ns}: {account:?}"
    );
}

#[test]
fn a_wait_for_a_runtimes_own_thread_is_its_work() {
    let of = |name: &str| {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 500);
        fake.trace.threads.last_mut().unwrap().name = name.to_owned();
        for turn in 0..50 {
            let from = 10 + turn * 19;
            fake.wait_for(ROOT, "futex", None, (from, from + 10, from + 10), Some(101));
            fake.wait_for(
                101,
                "futex",
                None,
                (from + 10, from + 19, from + 19),
                Some(ROOT),
            );
        }
        account(&fake)
    };
    let locks = |name| of(name).ns(TimeCategory::Locks) / MS;
    assert_eq!(locks("worker"), 500);
    assert_eq!(locks("VM Thread"), 0);
    assert!(of("VM Thread").ns(TimeCategory::UserCode) > 900 * MS);
}

#[test]
fn a_pipeline_is_what_its_slowest_part_does() {
    // A shell starts a producer that computes and a consumer that waits for it, then computes.
    let mut fake = Fake::new(1000);
    fake.child(200, 10, 700, 690);
    fake.child(300, 20, 990, 970);
    for pid in [200, 300] {
        fake.descriptor_of(pid, 0, "pipe");
        fake.descriptor_of(pid, 1, "pipe");
    }
    fake.wait_for(ROOT, "wait4", None, (30, 700, 700), Some(200));
    fake.wait_for(ROOT, "wait4", None, (701, 990, 990), Some(300));
    fake.wait_for(300, "read", Some(0), (30, 690, 695), Some(200));
    let account = account(&fake);
    is(&account, TimeCategory::WaitingForChild, 0);
    is(&account, TimeCategory::WaitingForInput, 0);
    is(&account, TimeCategory::UserCode, 1000);
}

#[test]
fn a_poll_that_a_thread_ends_is_that_threads_time() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 5, 990, 980);
    fake.wait_for(ROOT, "epoll_wait", Some(4), (10, 500, 500), Some(101));
    fake.wait_for(ROOT, "epoll_wait", Some(4), (501, 985, 985), Some(101));
    let account = account(&fake);
    is(&account, TimeCategory::Sleeping, 0);
    is(&account, TimeCategory::UserCode, 1000);
}

#[test]
fn a_runtimes_thread_that_ends_the_process_is_asked_to_by_who_worked() {
    // Java's shutdown: the first thread waits forever, and a working thread asks a third one to end the
    // process. The third thread hardly ever ran, and was asked for other things before.
    let mut fake = Fake::new(1000);
    fake.trace.threads[0].on_cpu_ns = Some(10 * MS);
    fake.thread(ROOT, 101, 10, 1000, 980);
    fake.thread(ROOT, 102, 20, 1000, 5);
    fake.wait_for(ROOT, "futex", None, (10, 1000, 1000), Some(102));
    for step in 0..40 {
        let at = 20 + step * 24;
        fake.wait_for(102, "futex", None, (at, at + 23, at + 23), Some(101));
    }
    fake.calls_of(102, "exit_group", None, 0, 0, 0);
    let account = account(&fake);
    is(&account, TimeCategory::Locks, 0);
    is(&account, TimeCategory::UserCode, 1000);
}

#[test]
fn a_reader_that_sleeps_right_after_it_woke_the_writer_was_waited_for() {
    // The shell first waits for the producer, which waits 600 ms for the consumer.
    let mut fake = Fake::new(1000);
    fake.child(200, 10, 900, 290);
    fake.child(300, 20, 990, 970);
    for pid in [200, 300] {
        fake.descriptor_of(pid, 0, "pipe");
        fake.descriptor_of(pid, 1, "pipe");
    }
    fake.wait_for(ROOT, "wait4", None, (30, 900, 900), Some(200));
    fake.wait_for(ROOT, "wait4", None, (901, 990, 990), Some(300));
    fake.wait_for(200, "write", Some(1), (200, 800, 800), Some(300));
    // The thread left its CPU 40 µs before the wake-up was recorded.
    fake.wait_for(300, "read", Some(0), (799, 801, 802), Some(200));
    let intervals = fake.trace.timeline.as_mut().expect("a timeline");
    intervals.last_mut().expect("the last wait").from_ns = 800 * MS - 40_000;
    let account = account(&fake);
    assert!(
        account.ns(TimeCategory::WaitingForOutput) < MS,
        "{account:?}"
    );
    assert!(account.ns(TimeCategory::WaitingForPipe) < MS, "{account:?}");
}

#[test]
fn of_parallel_children_each_wait_is_for_the_one_that_ended_it() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 400, 400);
    fake.child(300, 0, 990, 990);
    fake.wait_for(300, "clock_nanosleep", None, (50, 950, 950), None);
    fake.wait_for(ROOT, "wait4", None, (10, 400, 400), Some(200));
    fake.wait_for(ROOT, "wait4", None, (410, 990, 990), Some(300));
    let account = account(&fake);
    // The second child keeps sleeping while the main thread waits for it, from 410 to 950.
    is(&account, TimeCategory::Sleeping, 540);
    is(&account, TimeCategory::UserCode, 460);
}

#[test]
fn a_child_that_was_killed_while_it_computed_is_known_by_its_end() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 990, 990);
    fake.wait_for(ROOT, "wait4", None, (10, 991, 991), None);
    is(&account(&fake), TimeCategory::WaitingForChild, 0);
}

#[test]
fn queueing_for_a_lock_stays_a_wait_and_a_join_does_not() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 1000);
    for n in 0..10 {
        let from = n * 50;
        fake.wait_for(ROOT, "futex", None, (from, from + 40, from + 40), Some(101));
    }
    is(&account(&fake), TimeCategory::Locks, 400);
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 900, 900);
    fake.wait_for(ROOT, "futex", None, (100, 899, 899), Some(101));
    is(&account(&fake), TimeCategory::Locks, 0);
}

#[test]
fn the_last_turn_with_a_lock_is_no_join_of_who_held_it_and_ends_then() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 482, 482);
    for n in 0..10 {
        let from = n * 48;
        fake.wait_for(ROOT, "futex", None, (from, from + 48, from + 48), Some(101));
    }
    is(&account(&fake), TimeCategory::Locks, 480);
    fake.wait_for(ROOT, "futex", None, (480, 482, 482), Some(101));
    is(&account(&fake), TimeCategory::Locks, 482);
    // Three waits of 10 ms each, and then the end, which takes longer.
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 482, 482);
    for (from, to) in [(0, 10), (20, 30), (40, 50), (60, 70), (90, 100), (110, 482)] {
        fake.wait_for(ROOT, "futex", None, (from, to, to), Some(101));
    }
    is(&account(&fake), TimeCategory::Locks, 50);
}

#[test]
fn who_hands_out_the_work_of_a_pool_waits_for_that_work() {
    let mut fake = Fake::new(1000);
    for tid in [101, 102] {
        fake.thread(ROOT, tid, 0, 1000, 980);
    }
    for job in 0..20 {
        let from = job * 50;
        let by = 101 + (job % 2) as u32;
        fake.wait_for(ROOT, "futex", None, (from, from + 49, from + 49), Some(by));
    }
    is(&account(&fake), TimeCategory::Locks, 0);
}

#[test]
fn who_feeds_one_that_never_queues_waits_for_its_work() {
    // A worker that also queues for the lock is one of the threads that want it.
    for (queues_ms, locks_ms) in [(0, 0), (300, 740)] {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 990);
        fake.waits_of(
            101,
            Some("futex"),
            None,
            fathom_trace::Cause::Asleep,
            100,
            queues_ms * 10,
        );
        for job in 0..20 {
            let from = job * 50;
            fake.wait_for(ROOT, "futex", None, (from, from + 37, from + 37), Some(101));
        }
        is(&account(&fake), TimeCategory::Locks, locks_ms);
    }
}

#[test]
fn who_hands_out_work_and_is_woken_by_a_timer_waits_for_it_too() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 990);
    for job in 0..10 {
        let from = job * 100;
        let by = (job % 2 == 1).then_some(101);
        fake.wait_for(ROOT, "futex", None, (from, from + 99, from + 99), by);
    }
    is(&account(&fake), TimeCategory::Locks, 0);
}

#[test]
fn a_wait_for_the_network_is_shown_even_if_the_server_is_a_child() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 1000, 300);
    fake.descriptor(3, "socket");
    fake.wait_for(200, "clock_nanosleep", None, (110, 790, 790), None);
    fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(200));
    is(&account(&fake), TimeCategory::Network, 700);
}

#[test]
fn a_wait_at_a_socket_for_a_thread_that_computes_is_that_threads_time() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 1000);
    fake.descriptor(3, "inet socket");
    fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(101));
    is(&account(&fake), TimeCategory::Network, 0);
    // The same, with a wait for a child.
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 1000, 1000);
    fake.descriptor(3, "socket");
    fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(200));
    is(&account(&fake), TimeCategory::Network, 0);
    // A thread that sleeps represents a slow answer.
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 1000);
    fake.descriptor(3, "inet socket");
    fake.wait_for(101, "clock_nanosleep", None, (110, 790, 790), None);
    fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(101));
    is(&account(&fake), TimeCategory::Network, 700);
}

#[test]
fn a_thread_that_is_asked_and_waits_to_be_asked_to_its_end_queues_for_nothing() {
    let locks = |to_the_end: u64| {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        for turn in 0..20 {
            let (from, to) = (turn * 45, turn * 45 + 40);
            fake.wait_for(ROOT, "futex", None, (from, to, to), Some(101));
            fake.wait_for(101, "futex", None, (to, to + 5, to + 5), Some(ROOT));
        }
        let last = (900, to_the_end, to_the_end);
        fake.wait_for(101, "futex", None, last, None);
        account(&fake).ns(TimeCategory::Locks) / MS
    };
    assert_eq!(locks(1000), 0);
    assert_eq!(locks(950), 800, "it goes on after its last turn");
}

#[test]
fn what_answers_within_the_tree_is_waited_for_whatever_it_does() {
    let of = |accepted: &str| {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.descriptor(3, "socket to 127.0.0.1:8080");
        fake.descriptor(4, accepted);
        fake.wait_for(ROOT, "recvfrom", Some(3), (100, 800, 800), Some(101));
        fake.wait_for(101, "clock_nanosleep", None, (150, 790, 790), None);
        account(&fake)
    };
    let own = of("accepted socket from socket at [::ffff:127.0.0.1]:8080 (TCP_NODELAY)");
    is(&own, TimeCategory::Network, 0);
    is(&own, TimeCategory::Sleeping, 640);
    let another = of("accepted socket from socket at 127.0.0.1:8081");
    is(&another, TimeCategory::Network, 700);
}

#[test]
fn a_runtimes_thread_that_ends_the_process_is_asked_to_by_one_that_waited_too() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 1000);
    fake.thread(ROOT, 102, 0, 1000, 1000);
    fake.trace.threads[2].name = "VM Thread".to_owned();
    fake.wait_for(ROOT, "futex", None, (1, 999, 999), None);
    fake.descriptor(3, "socket to 192.0.2.1:80");
    fake.wait_for(101, "recvfrom", Some(3), (10, 980, 980), None);
    fake.wait_for(102, "futex", None, (1, 995, 995), Some(101));
    fake.calls_of(102, "exit_group", None, 1, 0, 1_000);
    is(&account(&fake), TimeCategory::Network, 970);
}

#[test]
fn naps_until_somebody_is_done_are_that_ones_time() {
    let napping = |naps: u64| {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 790, 790);
        for nap in 0..naps {
            let from = nap * 50;
            fake.wait_for(
                ROOT,
                "clock_nanosleep",
                None,
                (from, from + 49, from + 49),
                None,
            );
        }
        fake
    };
    // 16 naps; the child ends 9 ms before the last one does.
    is(&account(&napping(16)), TimeCategory::Sleeping, 9);
    // There are four more naps after the child's end, so they weren't waiting for its end.
    is(&account(&napping(20)), TimeCategory::Sleeping, 980);
}

#[test]
fn a_sleep_beside_a_child_that_is_awaited_later_is_the_childs_time() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 900, 900);
    fake.wait_for(ROOT, "clock_nanosleep", None, (1, 400, 400), None);
    is(&account(&fake), TimeCategory::Sleeping, 399);
    fake.wait_for(ROOT, "wait4", None, (401, 900, 900), Some(200));
    is(&account(&fake), TimeCategory::Sleeping, 0);
}

#[test]
fn a_sleep_beside_a_thread_that_is_done_sooner_and_waits_is_a_sleep() {
    // A thread works until `done` and then waits at a barrier for the main thread, which sleeps.
    let sleeping = |done: Option<u64>| {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 2, 998, 998);
        if let Some(done) = done {
            fake.wait_for(101, "futex", None, (done, 990, 990), Some(ROOT));
        }
        fake.wait_for(ROOT, "clock_nanosleep", None, (3, 800, 800), None);
        fake.wait_for(ROOT, "futex", None, (992, 998, 998), Some(101));
        account(&fake)
    };
    is(&sleeping(Some(600)), TimeCategory::Sleeping, 797);
    is(&sleeping(None), TimeCategory::Sleeping, 0);
}

#[test]
fn what_a_pool_does_side_by_side_hides_no_sleep() {
    // Node: the main thread and a worker compute for 500 ms each, concurrently; then the program waits for a
    // timer.
    let mut fake = Fake::new(1000);
    fake.trace.processes[0].execs[0].path = "/usr/bin/node".into();
    fake.thread(ROOT, 101, 0, 500, 500);
    fake.wait_for(ROOT, "epoll_pwait", Some(13), (500, 1000, 1000), None);
    is(&account(&fake), TimeCategory::UserCode, 500);
}

#[test]
fn a_pools_waits_at_a_pipe_are_the_other_ends_time() {
    // A Go program writes to a reader that sleeps.
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 980, 980);
    fake.trace.processes.last_mut().unwrap().execs[0].path = "/usr/bin/node".into();
    fake.child(300, 0, 990, 990);
    for pid in [200, 300] {
        fake.descriptor_of(pid, 0, "pipe");
        fake.descriptor_of(pid, 1, "pipe");
    }
    fake.wait_for(ROOT, "wait4", None, (1, 980, 980), Some(200));
    fake.wait_for(ROOT, "wait4", None, (981, 990, 990), Some(300));
    for step in 0..8 {
        let (from, to) = (step * 120 + 10, step * 120 + 120);
        fake.wait_for(200, "write", Some(1), (from, to, to), Some(300));
        fake.wait_for(300, "clock_nanosleep", None, (from, to - 1, to - 1), None);
    }
    let account = account(&fake);
    is(&account, TimeCategory::WaitingForPipe, 0);
    assert!(account.ns(TimeCategory::Sleeping) > 800 * MS, "{account:?}");
}

#[test]
fn waits_too_short_for_the_timeline_are_the_other_ends_time() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 980, 980);
    fake.child(300, 0, 990, 990);
    for pid in [200, 300] {
        fake.descriptor_of(pid, 0, "pipe");
        fake.descriptor_of(pid, 1, "pipe");
    }
    fake.calls_of(200, "write", Some(1), 20_000, 10, 10_000);
    fake.wait_for(ROOT, "wait4", None, (1, 990, 990), Some(300));
    fake.wait_for(300, "read", Some(0), (10, 20, 20), Some(200));
    fake.waits_of(
        300,
        Some("read"),
        Some(0),
        fathom_trace::Cause::Asleep,
        20_000,
        15,
    );
    let account = account(&fake);
    is(&account, TimeCategory::WaitingForInput, 0);
    assert!(account.ns(TimeCategory::KernelIo) > 50 * MS, "{account:?}");
}

#[test]
fn an_answer_that_a_worker_hands_on_was_awaited_from_the_network() {
    // The first thread asks; a thread that polls gets the answer, and wakes a worker that wakes the first.
    let of = |brought: bool| {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 40);
        fake.thread(ROOT, 102, 0, 1000, 20);
        fake.descriptor(5, "socket to 10.0.0.5:80");
        for turn in 0..40 {
            let at = 10 + turn * 24;
            fake.wait_for(ROOT, "futex", None, (at, at + 22, at + 22), Some(101));
            fake.wait_for(101, "futex", None, (at + 1, at + 21, at + 21), Some(102));
            if brought {
                fake.wait_for(102, "read", Some(5), (at, at + 20, at + 20), None);
            }
        }
        account(&fake)
    };
    let ms = |brought, spent| of(brought).ns(spent) / MS;
    assert!(ms(true, TimeCategory::Network) > 700);
    assert!(ms(false, TimeCategory::Locks) > 700);
}

#[test]
fn a_child_that_a_runtimes_thread_ends_did_what_its_own_threads_did() {
    let mut fake = Fake::new(1000);
    fake.child(200, 10, 990, 800);
    fake.thread(200, 201, 20, 990, 1);
    fake.trace.threads.last_mut().unwrap().name = "VM Thread".to_owned();
    fake.calls_of(201, "exit_group", None, 1, 0, 1_000);
    fake.wait_for(ROOT, "wait4", None, (12, 990, 990), Some(201));
    fake.wait_for(201, "futex", None, (21, 980, 980), Some(200));
    let account = account(&fake);
    assert!(account.ns(TimeCategory::UserCode) > 700 * MS, "{account:?}");
}
