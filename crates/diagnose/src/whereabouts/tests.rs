//! Tests for rows of artificial traces.

use fathom_model::{FindingId, Run, TimeCategory, WhereRow};
use fathom_stacks::Frame;
use fathom_trace::{Activity, Cause, FaultOverhead, PathRow, Tier};

use crate::fake::{Fake, MS, ROOT};

/// Adds stacks to the command's first thread. They form a route in `/bin/program` and in the C library, whose
/// functions are written with a `c:` prefix; `name:7` is line 7 of `p.c`.
fn stacks(fake: &mut Fake, activity: Activity, call: Option<&str>, ms: u64, way: &str) {
    fake.stack(activity, call, way.split_whitespace().map(frame), ms);
}

fn frame(word: &str) -> Frame {
    let (binary, word) = match word.strip_prefix("c:") {
        Some(word) => ("/usr/lib/libc.so.6", word),
        None => ("/bin/program", word),
    };
    let (name, line) = word.split_once(':').unwrap_or((word, ""));
    let line: Option<u32> = line.parse().ok();
    Frame {
        binary: binary.to_owned(),
        function: Some(name.to_owned()),
        source_file: line.map(|_| "p.c".to_owned()),
        line,
        ..Frame::default()
    }
}

fn rows(fake: &mut Fake) -> Vec<WhereRow> {
    let cpu = fake.trace.threads.iter().filter_map(|t| t.on_cpu_ns).sum();
    fake.trace.accounts.user_ns = cpu;
    let timed = [fake.run()];
    crate::diagnose(&fake.observation(&timed)).whereabouts
}

/// Formats rows as `70 read /a fgets <- load:3`, in per cent.
fn words(rows: &[WhereRow]) -> Vec<String> {
    let word = |row: &WhereRow| {
        let mut text = format!("{:.0}", 100.0 * row.share);
        for word in [&row.call, &row.object, &row.group, &row.place.function]
            .into_iter()
            .flatten()
        {
            text.push_str(&format!(" {word}"));
        }
        for caller in row.callers.iter().take(1) {
            let line = caller.line.map(|line| format!(":{line}"));
            let name = caller.function.as_deref().unwrap_or("?");
            text.push_str(&format!(" <- {name}{}", line.unwrap_or_default()));
        }
        text
    };
    rows.iter().map(word).collect()
}

#[test]
fn a_function_of_a_library_is_named_with_the_line_that_calls_it() {
    let mut fake = Fake::new(1000);
    let way = "c:__libc_start_main main:90 parse_line:41 c:regcomp c:re_compile";
    for inner in ["a", "b", "c"] {
        stacks(
            &mut fake,
            Activity::OwnCode,
            None,
            290,
            &format!("{way} c:{inner}"),
        );
    }
    stacks(&mut fake, Activity::OwnCode, None, 130, "main:95 print:50");
    let rows = rows(&mut fake);
    assert_eq!(
        words(&rows),
        ["87 regcomp <- parse_line:41", "13 print <- main:95"]
    );
    assert_eq!(rows[0].kind, TimeCategory::UserCode);
    let callers: Vec<_> = rows[0].callers.iter().map(|caller| caller.line).collect();
    assert_eq!(callers, [Some(41), Some(90)]);
}

#[test]
fn what_holds_nearly_all_says_nothing_and_small_callees_are_their_callers() {
    let mut fake = Fake::new(1000);
    for (callee, ms) in [("a", 340), ("b", 300)] {
        for small in 0..10 {
            let way = format!("main:1 work:2 {callee}:3 small{small}:4");
            stacks(&mut fake, Activity::OwnCode, None, ms / 10, &way);
        }
    }
    for small in 0..12 {
        let way = format!("main:1 work:2 other{small}:9");
        stacks(&mut fake, Activity::OwnCode, None, 30, &way);
    }
    let wanted = ["36 work <- main:1", "34 a <- work:2", "30 b <- work:2"];
    assert_eq!(words(&rows(&mut fake)), wanted);
}

#[test]
fn functions_that_do_the_same_below_one_caller_are_one_row() {
    let mut fake = Fake::new(1000);
    for (callee, ms) in [
        ("c:malloc c:_int_malloc", 180),
        ("c:cfree", 130),
        ("c:realloc", 40),
        ("c:convert c:__cxa_throw c:_Unwind_Find_FDE", 200),
        ("c:__cxa_end_catch", 30),
        ("c:qsort", 220),
    ] {
        let way = format!("main:1 build:7 {callee}");
        stacks(&mut fake, Activity::OwnCode, None, ms, &way);
    }
    stacks(
        &mut fake,
        Activity::OwnCode,
        None,
        200,
        "main:1 other:9 c:malloc",
    );
    let wanted = [
        "35 allocation malloc <- build:7",
        "23 exceptions convert <- build:7",
        "22 qsort <- build:7",
        // The function's name already states the purpose.
        "20 malloc <- other:9",
    ];
    assert_eq!(words(&rows(&mut fake)), wanted);
}

#[test]
fn what_most_of_a_recursion_does_at_each_depth_is_one_row() {
    let mut fake = Fake::new(1000);
    let mut add = |way: &str, ms| stacks(&mut fake, Activity::OwnCode, None, ms, way);
    for (of, ms) in [
        ("scan:7", 200),
        ("scan:7 check:8", 150),
        ("scan:7 skip:9", 100),
    ] {
        add(&format!("main:1 {of} c:convert c:__cxa_throw"), ms);
        add(&format!("main:1 {of}"), 90);
    }
    add("main:1 read:3", 280);
    let wanted = [
        "45 exceptions convert <- scan:7",
        "28 read <- main:1",
        "27 scan <- main:1",
    ];
    assert_eq!(words(&rows(&mut fake)), wanted);
}

#[test]
fn small_functions_of_one_library_below_one_caller_are_one_row() {
    let mut fake = Fake::new(1000);
    for at in 0..20 {
        let way = format!("main:1 sign:7 c:step{at}");
        let ms = if at == 0 { 49 } else { 29 };
        stacks(&mut fake, Activity::OwnCode, None, ms, &way);
    }
    stacks(&mut fake, Activity::OwnCode, None, 100, "main:1 sign:7");
    stacks(&mut fake, Activity::OwnCode, None, 300, "main:1 read:9");
    let wanted = [
        "60 functions of libc.so.6 step0 <- sign:7",
        "30 read <- main:1",
        "10 sign <- main:1",
    ];
    assert_eq!(words(&rows(&mut fake)), wanted);
}

#[test]
fn a_few_samples_name_no_function() {
    let mut fake = Fake::new(1000);
    let stacks_of = |fake: &mut Fake, samples| {
        stacks(fake, Activity::OwnCode, None, 500, "main rare");
        let rows = &mut fake.trace.stacks.as_mut().expect("just added").rows;
        rows.last_mut().expect("just added").samples = samples;
    };
    stacks_of(&mut fake, 3);
    assert_eq!(words(&rows(&mut fake)), ["100"]);
    stacks_of(&mut fake, 3);
    assert_eq!(words(&rows(&mut fake)), ["100 rare <- main"]);
}

#[test]
fn calls_are_named_with_their_files_and_callers() {
    let mut fake = Fake::new(1000);
    fake.calls("read", Some(3), 200_000, 1, 1_000);
    fake.descriptor(3, "/data/in");
    fake.calls("openat", None, 100, 0, 2_000_000);
    for at in 0..100u64 {
        fake.trace.paths.push(PathRow {
            pid: ROOT,
            call: "openat".to_owned(),
            path: format!("/data/parts/{at}"),
            calls: 1,
            ns: 2_000_000,
            samples: 1,
        });
    }
    stacks(
        &mut fake,
        Activity::Call,
        Some("read"),
        200,
        "main:3 load:12 c:fgetc c:read",
    );
    stacks(
        &mut fake,
        Activity::Call,
        Some("openat"),
        200,
        "main:4 each:20 c:fopen c:open",
    );
    let rows = rows(&mut fake);
    let own = words(&rows).into_iter().filter(|row| row.contains(" <- "));
    let mut own: Vec<String> = own.collect();
    own.sort();
    let wanted = [
        "20 openat /data/parts/ (100 files) fopen <- each:20",
        "21 read /data/in fgetc <- load:12",
    ];
    assert_eq!(own, wanted);
    let read = rows.iter().find(|row| row.call.as_deref() == Some("read"));
    assert_eq!(read.and_then(|row| row.count), Some(200_000));
}

#[test]
fn without_stacks_there_is_the_call_its_object_and_the_innermost_function() {
    let mut fake = Fake::new(1000);
    fake.in_function(ROOT, "/bin/program", "deflate", 300);
    fake.in_function(ROOT, "/usr/lib/libc.so.6", "memcpy", 100);
    fake.descriptor(0, "pipe");
    fake.waits(Some("read"), Some(0), Cause::Asleep, 60, 10_000);
    let rows = rows(&mut fake);
    let wanted = ["60 read standard input (pipe)", "30 deflate", "10 memcpy"];
    assert_eq!(words(&rows), wanted);
    assert_eq!(rows[0].kind, TimeCategory::WaitingForInput);
    assert_eq!(rows[0].count, Some(60));
}

#[test]
fn all_rows_of_a_kind_are_no_more_than_the_accounts_part() {
    let mut fake = Fake::new(1000);
    fake.thread(ROOT, 101, 0, 1000, 900);
    fake.thread(ROOT, 102, 0, 1000, 900);
    for fd in 3..30 {
        fake.calls_of(101, "write", Some(fd), 10_000, 1, 2_000);
    }
    stacks(&mut fake, Activity::OwnCode, None, 400, "main a");
    stacks(&mut fake, Activity::OwnCode, None, 300, "main b");
    let cpu = fake.trace.threads.iter().filter_map(|t| t.on_cpu_ns).sum();
    fake.trace.accounts.user_ns = cpu;
    let timed = [fake.run()];
    let diagnosis = crate::diagnose(&fake.observation(&timed));
    assert!(!diagnosis.whereabouts.is_empty());
    for kind in TimeCategory::ALL {
        let of_kind = diagnosis.whereabouts.iter().filter(|row| row.kind == kind);
        let sum: u64 = of_kind.map(|row| row.ns).sum();
        assert!(sum <= diagnosis.account.ns(kind), "{kind:?}: {sum}");
    }
}

#[test]
fn a_child_is_the_object_of_what_it_computes() {
    let mut fake = Fake::new(1000);
    fake.child(200, 0, 990, 980);
    let process = fake.trace.processes.last_mut().expect("just added");
    process.execs[0].arguments = vec!["child".to_owned(), "-n".to_owned()];
    fake.wait_for(ROOT, "wait4", None, (0, 990, 990), Some(200));
    let rows = rows(&mut fake);
    let first = rows.first().map(|row| (row.kind, row.object.as_deref()));
    assert_eq!(first, Some((TimeCategory::UserCode, Some("child -n"))));
}

#[test]
fn a_finding_has_the_place_that_most_of_its_time_is_at() {
    let mut fake = Fake::new(1000);
    fake.calls("read", Some(0), 1_000_000, 1, 500);
    fake.descriptor(0, "pipe");
    stacks(
        &mut fake,
        Activity::Call,
        Some("read"),
        500,
        "main:3 load:12 c:read",
    );
    let found = fake.findings();
    assert_eq!(found[0].id, FindingId::UnbufferedInput);
    assert_eq!(found[0].code.function.as_deref(), Some("read"));
    assert_eq!(found[0].callers[0].function.as_deref(), Some("load"));
    assert_eq!(found[0].callers[0].line, Some(12));
    assert_eq!(found[0].object.as_deref(), Some("standard input (pipe)"));
}

#[test]
fn a_finding_whose_time_is_elsewhere_has_the_place_that_opens_its_file() {
    let mut fake = Fake::new(1000);
    fake.language = Some(crate::Language::Python);
    fake.calls("openat", None, 300, 0, 10_000);
    fake.calls("read", Some(3), 600, 50_000, 20_000);
    fake.file("/etc/table.json", 300, 600, 30_000_000, 0);
    for (way, path, opens) in [
        ("main:1 load:4 c:open", "/etc/table.json", 80),
        ("main:1 other:9 c:open", "/etc/table.json", 20),
        ("main:1 other:9 c:open", "/etc/more", 900),
    ] {
        stacks(&mut fake, Activity::Call, Some("openat"), opens, way);
        let stacks = fake.trace.stacks.as_mut().expect("made by `stacks`");
        stacks.rows.last_mut().expect("just added").path = Some(path.to_owned());
    }
    // If the time is split among many places, no single row shows it.
    for at in 0..9 {
        let way = format!("main:1 work{at}:5");
        stacks(&mut fake, Activity::OwnCode, None, 100, &way);
    }
    let found = fake.findings().remove(0);
    assert_eq!(found.id, FindingId::Rereading);
    let callers = found.callers.first().and_then(|it| it.function.as_deref());
    let place = (found.code.function.as_deref(), callers);
    assert_eq!(place, (Some("open"), Some("load")));
}

#[test]
fn a_lock_is_that_which_somebody_else_gave_back() {
    let object = |wait: &str, wake: &str| {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 60, 10_000);
        stacks(&mut fake, Activity::Wait, Some("futex"), 600, wait);
        fake.trace.stacks.as_mut().expect("just added").rows[0].woken_by = Some(101);
        // The thread itself waits there for longer than it takes to wake another.
        for (way, ms) in [(wait, 9), (wake, 2)] {
            stacks(&mut fake, Activity::Call, Some("futex"), ms, way);
            let stacks = fake.trace.stacks.as_mut().expect("just added");
            stacks.rows.last_mut().expect("just added").tid = 101;
        }
        let rows = rows(&mut fake);
        let row = rows.iter().find(|row| row.call.as_deref() == Some("futex"));
        row.expect("it was waited").object.clone()
    };
    let lock = object(
        "main:3 take:8 c:pthread_mutex_lock",
        "main:3 hold:9 c:pthread_mutex_unlock",
    );
    assert_eq!(lock.as_deref(), Some("lock held by hold (p.c:9)"));
    let news = object(
        "main:3 next:8 c:pthread_cond_wait",
        "main:3 give:9 c:pthread_cond_signal",
    );
    assert_eq!(news.as_deref(), Some("woken by give (p.c:9)"));
    let unknown = object("main:3 take:8", "main:3 hold:9");
    assert_eq!(unknown, None);
}

#[test]
fn ways_that_part_where_nobody_looks_are_one_row() {
    let mut fake = Fake::new(1000);
    for (way, ms) in [
        ("main:1 left:2 walk:5 visit:7", 500),
        ("main:1 right:3 walk:5 visit:7", 300),
        ("main:1 other:4", 200),
    ] {
        stacks(&mut fake, Activity::OwnCode, None, ms, way);
    }
    let wanted = ["80 visit <- walk:5", "20 other <- main:1"];
    assert_eq!(words(&rows(&mut fake)), wanted);
}

#[test]
fn page_faults_are_of_what_they_touched() {
    let mut fake = Fake::new(1000);
    let thread = &mut fake.trace.threads[0];
    thread.minor_faults = Some(100_000);
    thread.timed_faults = Some(100_000);
    thread.fault_ns = Some(600 * MS);
    fake.trace.fault_overhead = Some(FaultOverhead::default());
    for (touched, ms, way) in [
        (Some("heap"), 300, "main:3 fill:5 c:memset"),
        (Some("heap"), 100, "main:4 grow:9"),
        (Some("/data/in"), 200, "main:4 grow:9"),
        (None, 100, "main:4 other:2"),
    ] {
        stacks(&mut fake, Activity::Fault, None, ms, way);
        let rows = &mut fake.trace.stacks.as_mut().expect("just added").rows;
        rows.last_mut().expect("just added").path = touched.map(str::to_owned);
    }
    let wanted = [
        "26 heap memset <- fill:5",
        "17 /data/in grow <- main:4",
        "9 other <- main:4",
        "9 heap grow <- main:4",
    ];
    let rows = rows(&mut fake).into_iter();
    let faults: Vec<WhereRow> = rows
        .filter(|row| row.kind == TimeCategory::PageFaults)
        .collect();
    assert_eq!(words(&faults), wanted);
}

#[test]
fn page_faults_have_a_row_where_the_kernel_is_one_part() {
    let mut fake = Fake::new(1000);
    fake.trace.tier = Some(Tier::Perf);
    fake.trace.calls_from = Some(Tier::Ptrace);
    fake.calls("read", Some(3), 1_000, 0, 0);
    fake.trace.accounts.minor_faults = 300_000;
    fake.trace.threads[0].minor_faults = Some(300_000);
    fake.limits.page_fault_seconds = Some(1e-6);
    fake.trace.accounts.system_ns = 400 * MS;
    fake.trace.accounts.user_ns = 600 * MS;
    let timed = [Run {
        user_ns: 600 * MS,
        system_ns: 400 * MS,
        minor_faults: 300_000,
        ..fake.run()
    }];
    let diagnosis = crate::diagnose(&fake.observation(&timed));
    let rows = diagnosis.whereabouts.iter();
    let faults = rows.filter(|row| row.kind == TimeCategory::PageFaults);
    let faults: Vec<_> = faults.map(|row| row.count).collect();
    assert_eq!(faults, [Some(300_000)], "{:?}", diagnosis.whereabouts);
    let of_kernel: u64 = diagnosis
        .whereabouts
        .iter()
        .filter(|row| row.kind == TimeCategory::PageFaults || row.kind == TimeCategory::Kernel)
        .map(|row| row.ns)
        .sum();
    assert!(of_kernel <= diagnosis.account.ns(TimeCategory::Kernel));
}

#[test]
fn what_is_taken_down_at_the_end_is_memory() {
    let mut fake = Fake::new(1000);
    fake.calls("exit_group", None, 1, 0, 300 * MS);
    let object = |fake: &mut Fake, memory: u64| {
        fake.trace.accounts.peak_memory_bytes = memory << 20;
        let rows = rows(fake);
        let call = |row: &&WhereRow| row.call.as_deref() == Some("exit_group");
        rows.iter().find(call).expect("it took long").object.clone()
    };
    let words = "memory returned at the end, up to 300 MiB";
    assert_eq!(object(&mut fake, 300).as_deref(), Some(words));
    assert_eq!(object(&mut fake, 2), None);
    fake.child(200, 0, 10, 5);
    let words = "memory that 2 processes return";
    assert_eq!(object(&mut fake, 300).as_deref(), Some(words));
}

#[test]
fn a_number_that_was_many_files_is_what_it_was_when_stacks_were_taken() {
    let mut fake = Fake::new(1000);
    fake.calls("getdents64", Some(3), 2_000, 0, 200_000);
    fake.descriptor(3, "socket");
    for (path, ms) in [("/usr/share/doc", 200), ("/usr/share/man", 200)] {
        stacks(
            &mut fake,
            Activity::Call,
            Some("getdents64"),
            ms,
            "main:3 c:readdir",
        );
        let rows = &mut fake.trace.stacks.as_mut().expect("just added").rows;
        let row = rows.last_mut().expect("just added");
        (row.path, row.fd) = (Some(path.to_owned()), Some(3));
    }
    let rows = rows(&mut fake);
    let objects = rows.iter().filter_map(|row| row.object.as_deref());
    let mut objects: Vec<&str> = objects.collect();
    objects.sort_unstable();
    assert_eq!(objects, ["/usr/share/doc", "/usr/share/man"]);
}

#[test]
fn functions_of_a_stripped_program_are_known_by_where_they_begin() {
    let mut fake = Fake::new(1000);
    for (begin, ms) in [(0x8850, 600), (0x7630, 400)] {
        stacks(&mut fake, Activity::OwnCode, None, ms, "");
        let stacks = fake.trace.stacks.as_mut().expect("just added");
        let frame = |offset| Frame {
            binary: "/bin/program".to_owned(),
            offset: Some(offset),
            ..Frame::default()
        };
        let node = stacks.tree.add([frame(0x3000), frame(begin)]);
        stacks.rows.last_mut().expect("just added").node = node;
    }
    let rows = rows(&mut fake);
    let begins: Vec<_> = rows.iter().map(|row| row.place.offset).collect();
    assert_eq!(begins, [Some(0x8850), Some(0x7630)]);
    assert_eq!(rows[0].callers[0].offset, Some(0x3000));
}

#[test]
fn no_more_goes_with_calls_than_samples_found_in_the_functions_that_make_them() {
    let library_ms = |language, within_ms: u64, way: &str| {
        let mut fake = Fake::new(1000);
        fake.language = Some(language);
        fake.calls("read", None, 400_000, 1, 500);
        stacks(&mut fake, Activity::Call, Some("read"), 200, way);
        stacks(&mut fake, Activity::OwnCode, None, within_ms, way);
        stacks(&mut fake, Activity::OwnCode, None, 800 - within_ms, "main");
        let timed = [fake.run()];
        let observation = fake.observation(&timed);
        crate::analysis::Analysis::new(&observation).library_ns(|row| row.name == "read") / 1e6
    };
    use crate::Language::{C, Python, Rust};
    let rust = library_ms(Rust, 4, "main c:take");
    assert!((rust - 4.0).abs() < 0.1, "{rust}");
    // The estimate of the model is lower.
    let model = library_ms(Rust, 400, "main c:take");
    assert!((10.0..100.0).contains(&model), "{model}");
    // Own code makes the calls itself, and the interpreter's work is attributed to the program's functions.
    assert!(library_ms(C, 4, "main") > 4.0);
    assert!(library_ms(Python, 4, "main c:take") > 100.0);
}

#[test]
fn what_only_opens_a_file_takes_what_samples_found_in_it() {
    let library_ms = |within_ms: u64, each_ns: u64| {
        let mut fake = Fake::new(1000);
        fake.language = Some(crate::Language::C);
        fake.calls("openat", None, 100_000, 0, each_ns);
        let way = "main c:fopen";
        stacks(&mut fake, Activity::Call, Some("openat"), 100, way);
        stacks(&mut fake, Activity::OwnCode, None, within_ms, way);
        stacks(&mut fake, Activity::OwnCode, None, 900 - within_ms, "main");
        let timed = [fake.run()];
        let observation = fake.observation(&timed);
        crate::analysis::Analysis::new(&observation).library_ns(|row| row.name == "openat") / 1e6
    };
    // According to the model, 20 ns for each call add up to 2 ms.
    let sampled = library_ms(90, 2_000);
    assert!((sampled - 80.0).abs() < 10.0, "{sampled}");
    // The result is at most as much as the kernel spends on the calls.
    let most = library_ms(600, 1_000);
    assert!((90.0..=110.0).contains(&most), "{most}");
}

#[test]
fn what_a_collector_asks_of_the_kernel_is_known_by_its_stacks() {
    let mut fake = Fake::new(1000);
    fake.calls("madvise", None, 10_000, 0, 10_000);
    stacks(
        &mut fake,
        Activity::Call,
        Some("madvise"),
        30,
        "main runtime.gcDrain",
    );
    stacks(
        &mut fake,
        Activity::Call,
        Some("madvise"),
        10,
        "main advise",
    );
    let timed = [fake.run()];
    let observation = fake.observation(&timed);
    let analysis = crate::analysis::Analysis::new(&observation);
    let calls = analysis.calls_of_role(fathom_model::ThreadRole::Collector);
    assert_eq!(calls, [(0, 0.75)]);
}
