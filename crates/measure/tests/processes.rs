//! Accounts of real processes with known behavior. Nothing here depends on their speed.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use fathom_measure::{
    Answered, Attempt, CallFilter, CommandLine, Executor, Expectation, Hook, Hooks, Input,
    MeasureError, Mount, Output, ProcessExecutor, ProcessOptions, RunReport, lookup, try_mounts,
};
use fathom_model::Exit;

fn command(words: &[&str]) -> CommandLine {
    let path = std::env::var_os("PATH").unwrap();
    CommandLine {
        program: lookup::find(words[0].as_ref(), &path, None).unwrap(),
        arguments: words.iter().map(OsString::from).collect(),
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        without: fathom_measure::Without::default(),
    }
}

fn options() -> ProcessOptions {
    ProcessOptions {
        timeout: None,
        pin: Vec::new(),
        vary_environment_size: true,
        show_output: false,
        keep_daemons: false,
        seed: 1,
    }
}

fn executor(command: CommandLine) -> ProcessExecutor {
    ProcessExecutor::new(vec![(command, Hooks::default())], options()).unwrap()
}

const ATTEMPT: Attempt = Attempt {
    benchmark: 0,
    warmup: false,
    round: 0,
    position: 0,
};

fn run(command: CommandLine) -> RunReport {
    executor(command).run(&[ATTEMPT]).unwrap()
}

fn in_shell(line: &str) -> CommandLine {
    command(&["sh", "-c", line])
}

/// Like [`options`], for tests that would hang on failure.
fn with_time_limit() -> ProcessOptions {
    ProcessOptions {
        timeout: Some(Duration::from_secs(300)),
        ..options()
    }
}

#[test]
fn a_filter_answers_pauses_of_the_command_and_all_that_it_starts() {
    for words in [
        &["sleep", "100000"][..],
        &["sh", "-c", "sleep 100000; exit 7"],
    ] {
        let mut sleeps = command(words);
        sleeps.without.calls = Some(CallFilter::answering(Answered::PAUSES));
        let hooks = Hooks::default();
        let mut executor = ProcessExecutor::new(vec![(sleeps, hooks)], with_time_limit()).unwrap();
        let ended = executor.run(&[ATTEMPT]).unwrap().run.exit;
        assert!(matches!(ended, Exit::Code(0 | 7)), "{ended:?}");
    }
}

#[test]
fn a_filter_that_lets_calls_through_changes_nothing() {
    let mut fails = in_shell("sleep 0.001 && exit 3");
    fails.without.calls = Some(CallFilter::letting_through(Answered::PAUSES));
    assert_eq!(run(fails).run.exit, Exit::Code(3));
}

#[test]
fn a_command_without_a_variable_does_not_get_it() {
    let mut asks = in_shell("exit ${WITHOUT-7}");
    asks.variables = vec![("WITHOUT".into(), "3".into())];
    assert_eq!(run(asks.clone()).run.exit, Exit::Code(3));
    asks.without.variables = vec!["WITHOUT".into()];
    assert_eq!(run(asks).run.exit, Exit::Code(7));
}

#[test]
fn the_library_joins_small_writes_and_keeps_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("joining.so");
    std::fs::write(&library, fathom_measure::joining_library()).unwrap();
    let script = "import os, subprocess\n\
        for i in range(500): os.write(1, b'%d ' % i)\n\
        subprocess.run(['echo', 'child'])\n\
        if os.fork() == 0:\n  os.write(1, b'copy ')\n  os._exit(0)\n\
        os.wait()\nos.write(1, b'end')\n";
    let run_with = |name: &str, preloads: &[&Path]| {
        let printed = folder.path().join(name);
        let mut python = command(&["python3", "-c", script]);
        python.output = Output::File(printed.clone());
        let preloads = preloads
            .iter()
            .map(|path| ("LD_PRELOAD".into(), path.into()));
        python.variables = preloads.collect();
        let run = run(python).run;
        assert_eq!(run.exit, Exit::Code(0));
        (
            std::fs::read_to_string(printed).unwrap(),
            run.io.unwrap().write_calls,
        )
    };
    let (plain, many) = run_with("plain", &[]);
    let (joined, few) = run_with("joined", &[&library]);
    assert_eq!(joined, plain);
    assert!(plain.ends_with("499 child\ncopy end"), "{plain}");
    assert!(many >= 500 && few < 100, "{many} and {few} write calls");
}

#[test]
fn the_library_remembers_missing_files_until_they_may_exist() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("joining.so");
    std::fs::write(&library, fathom_measure::joining_library()).unwrap();
    // The library doesn't see files that are created by `syscall`. A file that was missing is soon forgotten,
    // so several are tried.
    let number = libc::SYS_mknodat;
    let script = format!(
        "import ctypes, os, subprocess\n\
        libc = ctypes.CDLL(None)\n\
        def is_remembered(i):\n\
        \x20 path = 'unseen%d' % i\n\
        \x20 assert not os.path.exists(path)\n\
        \x20 assert libc.syscall({number}, -100, path.encode(), 0o100600, 0) == 0\n\
        \x20 return not os.path.exists(path)\n\
        def appears(path, create):\n\
        \x20 assert not os.path.exists(path)\n\
        \x20 create(path)\n\
        \x20 assert os.path.exists(path), path\n\
        for i in range(100):\n\
        \x20 appears('opened%d' % i, lambda path: open(path, 'w').close())\n\
        \x20 appears('made%d' % i, os.mkdir)\n\
        \x20 appears('link%d' % i, lambda path: os.symlink('/', path))\n\
        \x20 appears('renamed%d' % i, lambda path: os.rename('made%d' % i, path))\n\
        appears('child', lambda path: subprocess.run(['touch', path]))\n\
        os.symlink('nowhere', 'dangling')\n\
        assert not os.path.exists('dangling') and os.path.lexists('dangling')\n\
        os.mkdir('below')\n\
        open('below/inside', 'w').close()\n\
        assert not os.path.exists('inside')\n\
        os.chdir('below')\n\
        assert os.path.exists('inside')\n\
        raise SystemExit(any(is_remembered(i) for i in range(1000)))\n"
    );
    for (mode, remembered) in [("lookups", 1), ("", 0)] {
        let place = tempfile::tempdir().unwrap();
        let mut python = command(&["python3", "-c", &script]);
        python.directory = Some(place.path().to_path_buf());
        python.variables = vec![("LD_PRELOAD".into(), library.clone().into())];
        if !mode.is_empty() {
            python
                .variables
                .push(("FATHOM_PRELOAD".into(), mode.into()));
        }
        let report = run(python);
        let said = String::from_utf8_lossy(&report.stderr_tail);
        assert_eq!(report.run.exit, Exit::Code(remembered), "{said}");
    }
}

/// Runs a Python program with the library in this mode, and returns its exit code.
fn with_library(mode: &str, program: &str) -> Exit {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("joining.so");
    std::fs::write(&library, fathom_measure::joining_library()).unwrap();
    let mut python = command(&["python3", "-c", program]);
    python.variables = vec![
        ("LD_PRELOAD".into(), library.into()),
        ("FATHOM_PRELOAD".into(), mode.into()),
    ];
    let report = run(python);
    let said = String::from_utf8_lossy(&report.stderr_tail);
    assert!(!said.contains("Error"), "{said}");
    report.run.exit
}

#[test]
fn the_library_reads_ahead_from_a_pipe_and_takes_nothing_from_another_reader() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("joining.so");
    std::fs::write(&library, fathom_measure::joining_library()).unwrap();
    // The program reads some bytes one by one, its child the rest of the line, and the program the rest.
    let script = "import os, select, subprocess\n\
        own, other = os.pipe()\n\
        os.write(other, b'0123456789' * 50 + b'to the child\\nand back')\n\
        os.close(other)\n\
        read = b''.join(os.read(own, 1) for i in range(500))\n\
        assert read == b'0123456789' * 50, read\n\
        assert select.select([own], [], [], 0)[0] == [own]\n\
        line = subprocess.run(['sh', '-c', 'read -r line; echo \"$line\"'], stdin=own, stdout=subprocess.PIPE)\n\
        assert line.stdout == b'to the child\\n', line\n\
        rest = b''.join(os.read(own, 1) for i in range(8))\n\
        assert rest == b'and back' and os.read(own, 1) == b'', rest\n";
    let calls = |preloads: &[&Path]| {
        let mut python = command(&["python3", "-c", script]);
        let preloads = preloads
            .iter()
            .map(|path| ("LD_PRELOAD".into(), path.into()));
        python.variables = preloads.collect();
        let report = run(python);
        let said = String::from_utf8_lossy(&report.stderr_tail);
        assert_eq!(report.run.exit, Exit::Code(0), "{said}");
        report.run.io.unwrap().read_calls
    };
    let (many, few) = (calls(&[]), calls(&[&library]));
    assert!(few + 400 < many, "{few} and {many} read calls");
}

#[test]
fn the_library_keeps_memory_that_is_given_back_and_clears_it() {
    // Kept memory is still mapped, and another area of the same size gets it. An area that was changed isn't kept.
    let program = "import ctypes, re\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        libc.mmap.restype = ctypes.c_void_p\n\
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n\
        libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]\n\
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n\
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n\
        def is_mapped(start):\n\
        \x20 areas = [line.split()[0].split('-') for line in open('/proc/self/maps')]\n\
        \x20 return any(int(a, 16) <= start < int(b, 16) for a, b in areas)\n\
        size = 77 * 4096\n\
        new = lambda: libc.mmap(None, size, 3, 0x22, -1, 0)\n\
        first = new()\n\
        ctypes.memset(first, 7, size)\n\
        assert libc.munmap(first, size) == 0\n\
        kept = is_mapped(first)\n\
        second = new()\n\
        assert not kept or second == first\n\
        assert ctypes.string_at(second, size) == bytes(size)\n\
        ctypes.memset(second, 7, size)\n\
        assert libc.madvise(second, 4096, 4) == 0\n\
        assert ctypes.string_at(second, 4097) == bytes(4096) + b'\\7'\n\
        assert libc.mprotect(second, 4096, 1) == 0\n\
        assert libc.munmap(second, size) == 0\n\
        assert not is_mapped(second)\n\
        raise SystemExit(kept)\n";
    assert_eq!(with_library("memory", program), Exit::Code(1));
    assert_eq!(with_library("no-delay", program), Exit::Code(0));
}

#[test]
fn the_library_remembers_what_stat_said_of_a_file_that_was_not_changed_lately() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        fathom_test_log::skipped("only root can replace an old file, by a mount");
        return;
    }
    // The library doesn't see mounts. What was said is soon forgotten, so it is tried several times.
    let program = format!(
        "import ctypes, os, sys, tempfile, time\n\
        libc = ctypes.CDLL(None)\n\
        if libc.syscall({unshare}, 0x20000) or libc.mount(b'none', b'/', None, 0x44000, None): raise SystemExit(3)\n\
        other = os.path.realpath(sys.executable).encode()\n\
        def is_remembered(path):\n\
        \x20 before = os.stat(path).st_size\n\
        \x20 assert libc.mount(other, path, None, 0x1000, None) == 0\n\
        \x20 known = os.stat(path).st_size == before\n\
        \x20 assert libc.umount2(path, 2) == 0\n\
        \x20 return known\n\
        new = os.path.join(tempfile.mkdtemp(), 'new').encode()\n\
        open(new, 'w').close()\n\
        began = time.time()\n\
        known = is_remembered(new)\n\
        assert not known or time.time() - began > 1\n\
        os.unlink(new)\n\
        raise SystemExit(any(is_remembered(b'/usr/bin/env') for _ in range(50)))\n",
        unshare = libc::SYS_unshare
    );
    let ended = with_library("lookups", &program);
    match ended == Exit::Code(3) {
        true => fathom_test_log::skipped("root may not mount here"),
        false => {
            assert_eq!(ended, Exit::Code(1));
            assert_eq!(with_library("no-delay", &program), Exit::Code(0));
        }
    }
}

#[test]
fn the_library_sets_what_sockets_pipes_and_large_areas_get() {
    let no_delay = "import socket\n\
        listener = socket.create_server(('127.0.0.1', 0))\n\
        one = socket.create_connection(listener.getsockname())\n\
        other = listener.accept()[0]\n\
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)\n\
        raise SystemExit(all(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for s in (one, other)))\n";
    let pipes = "import fcntl, os\n\
        raise SystemExit(fcntl.fcntl(os.pipe()[0], 1032) >= 1 << 20)\n";
    let huge = "import ctypes\n\
        libc = ctypes.CDLL(None)\n\
        libc.mmap.restype = ctypes.c_void_p\n\
        start = libc.mmap(None, 8 << 20, 3, 0x22, -1, 0)\n\
        areas = open('/proc/self/smaps').read().split('VmFlags:')\n\
        is_there = lambda about: any(int(a, 16) <= start < int(b, 16) for a, b in\n\
        \x20 [line.split()[0].split('-') for line in about.splitlines() if '-' in line and line[0] in '0123456789abcdef'])\n\
        flags = [areas[i + 1].split('\\n')[0] for i, about in enumerate(areas[:-1]) if is_there(about)]\n\
        raise SystemExit(' hg' in flags[0])\n";
    let mut all = vec![("no-delay", no_delay), ("pipes", pipes)];
    match Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        true => all.push(("huge-pages", huge)),
        false => fathom_test_log::skipped("the kernel has no transparent huge pages"),
    }
    for (mode, program) in all {
        assert_eq!(with_library(mode, program), Exit::Code(1), "{mode}");
        assert_eq!(with_library("lookups", program), Exit::Code(0), "{mode}");
    }
}

#[test]
fn a_command_binds_itself_to_no_cpu_if_that_is_answered() {
    let mut binds = command(&[
        "python3",
        "-c",
        "import os; all = os.sched_getaffinity(0); os.sched_setaffinity(0, {min(all)}); \
         raise SystemExit(os.sched_getaffinity(0) == all)",
    ]);
    binds.without.calls = Some(CallFilter::answering(Answered::BINDINGS));
    assert_eq!(run(binds).run.exit, Exit::Code(1));
}

#[test]
fn only_the_command_sees_its_own_mounts() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (files, written, aside) = (part("files"), part("written"), part("aside"));
    std::fs::write(files.join("old"), "old").unwrap();
    std::fs::write(files.join("bound"), "").unwrap();
    std::fs::write(folder.path().join("source"), "source").unwrap();
    let mounts = vec![
        Mount::overlay(&files, &written, &aside, &files),
        Mount::bind(&folder.path().join("source"), &files.join("bound")),
    ];
    if let Err(error) = try_mounts(&mounts, &files) {
        fathom_test_log::skipped(&format!("this user may not mount: {error}"));
        return;
    }
    let line = "test \"$(cat old)\" = old && test \"$(cat bound)\" = source && echo new > new && echo x > old && \
                test \"$(cat \"$PWD/old\")\" = x && exit 7";
    let mut writes = in_shell(line);
    writes.directory = Some(files.clone());
    writes.without.mounts = mounts;
    assert_eq!(run(writes).run.exit, Exit::Code(7));
    assert_eq!(std::fs::read_to_string(files.join("old")).unwrap(), "old");
    assert_eq!(std::fs::read(files.join("bound")).unwrap(), b"");
    assert!(!files.join("new").exists());
    assert_eq!(
        std::fs::read_to_string(written.join("new")).unwrap(),
        "new\n"
    );
}

#[test]
fn a_command_runs_in_the_control_group_that_it_is_given() {
    let found = Path::new("/sys/fs/cgroup/pids");
    let group = found.join(format!("fathom-test-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() {
        fathom_test_log::skipped("no control group can be created here");
        return;
    }
    let name = group.file_name().unwrap().to_str().unwrap();
    let mut asks = in_shell(&format!("grep -q pids:/{name} /proc/self/cgroup && exit 7"));
    asks.without.groups = vec![group.clone()];
    let ended = run(asks).run.exit;
    std::fs::remove_dir(&group).unwrap();
    assert_eq!(ended, Exit::Code(7));
}

/// Reports whether any process exists whose command line contains `mark`.
fn is_running(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn calls_and_bytes_are_counted_exactly() {
    let dd = |count: &str| {
        let io = run(command(&[
            "dd",
            "if=/dev/zero",
            "of=/dev/null",
            "bs=100",
            count,
        ]))
        .run
        .io
        .expect("/proc/PID/io of a child is readable");
        (
            io.read_calls,
            io.write_calls,
            io.read_bytes,
            io.written_bytes,
        )
    };
    let (none, many) = (dd("count=0"), dd("count=5000"));
    assert_eq!(many.0 - none.0, 5_000, "read calls");
    assert_eq!(many.2 - none.2, 500_000, "bytes read");
    // dd reports its work on standard error, in a few calls whose length depends on the time.
    assert!((5_000..5_010).contains(&(many.1 - none.1)), "write calls");
    assert!(
        (500_000..501_000).contains(&(many.3 - none.3)),
        "bytes written"
    );
}

#[test]
fn children_that_were_waited_for_count() {
    let report = run(in_shell(
        "dd if=/dev/zero of=/dev/null bs=1 count=3000 2>/dev/null; true",
    ));
    assert!(report.run.io.unwrap().read_calls >= 3_000);
    assert_eq!(
        report.run.undisturbed_ns, None,
        "a tree's waits are not known exactly"
    );
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    assert_eq!(run(command(&["true"])).run.exit, Exit::Code(0));
    assert_eq!(run(in_shell("exit 42")).run.exit, Exit::Code(42));
    assert_eq!(run(in_shell("kill -SEGV $$")).run.exit, Exit::Signal(11));
}

#[test]
fn the_end_of_standard_error_is_kept_in_bounded_memory() {
    let report = run(in_shell(
        "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; echo last >&2; exit 1",
    ));
    let tail = String::from_utf8(report.stderr_tail).unwrap();
    assert!(tail.ends_with("line 2999\nlast\n"));
    assert_eq!(tail.len(), 4096);
}

#[test]
fn a_run_over_its_time_is_ended_with_everything_that_it_started() {
    let mark = format!("86{}.25", std::process::id());
    let line = format!("sleep {mark} & (setsid sleep {mark} &) ; sleep {mark}");
    let mut executor = ProcessExecutor::new(
        vec![(in_shell(&line), Hooks::default())],
        ProcessOptions {
            timeout: Some(Duration::from_millis(300)),
            ..options()
        },
    )
    .unwrap();
    let report = executor.run(&[ATTEMPT]).unwrap();
    assert_eq!(report.run.exit, Exit::TimedOut);
    assert!(!is_running(&mark), "also the one in a session of its own");
}

#[test]
fn processes_that_a_run_leaves_behind_are_counted_and_ended_before_the_next() {
    let mark = format!("85{}.25", std::process::id());
    let mut executor = executor(in_shell(&format!("sleep {mark} >/dev/null 2>&1 &")));
    for _ in 0..2 {
        assert_eq!(executor.run(&[ATTEMPT]).unwrap().run.left_behind, 1);
        assert!(!is_running(&mark));
    }
}

#[test]
fn daemons_that_are_to_be_kept_live_until_the_sweep() {
    let mark = format!("88{}.25", std::process::id());
    let options = ProcessOptions {
        keep_daemons: true,
        ..options()
    };
    let command = in_shell(&format!("sleep {mark} >/dev/null 2>&1 &"));
    let mut executor = ProcessExecutor::new(vec![(command, Hooks::default())], options).unwrap();
    assert_eq!(executor.run(&[ATTEMPT]).unwrap().run.left_behind, 1);
    assert_eq!(executor.run(&[ATTEMPT]).unwrap().run.left_behind, 1);
    assert!(is_running(&mark));
    executor.sweep();
    assert!(!is_running(&mark));
}

#[test]
fn dropping_the_executor_leaves_nothing_behind() {
    let mark = format!("84{}.25", std::process::id());
    let mut executor = executor(in_shell(&format!("sleep {mark} >/dev/null 2>&1 &")));
    executor.run(&[ATTEMPT]).unwrap();
    drop(executor);
    assert!(!is_running(&mark));
}

#[test]
fn the_expected_output_is_told_from_another() {
    let hello: [u8; 32] = [
        0x58, 0x91, 0xb5, 0xb5, 0x22, 0xd5, 0xdf, 0x08, 0x6d, 0x0f, 0xf0, 0xb1, 0x10, 0xfb, 0xd9,
        0xd2, 0x1b, 0xb4, 0xfc, 0x71, 0x63, 0xaf, 0x34, 0xd0, 0x82, 0x86, 0xa2, 0xe8, 0x46, 0xf6,
        0xbe, 0x03,
    ];
    let with = |text: &str| {
        let mut command = command(&["echo", text]);
        command.expect = Some(Expectation {
            sha256: hello,
            length: Some(6),
            given: "hello".into(),
        });
        run(command).wrong_output
    };
    assert_eq!(with("hello"), None);
    assert!(with("hullo").unwrap().contains("6 bytes with SHA-256"));
    assert_eq!(
        with("hello world").as_deref(),
        Some("12 bytes instead of 6")
    );
}

#[test]
fn standard_input_comes_from_the_file_from_its_start_in_every_run() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![b'x'; 100_000]).unwrap();
    let mut command = command(&["cat"]);
    let empty = executor(command.clone())
        .run(&[ATTEMPT])
        .unwrap()
        .run
        .io
        .unwrap();
    command.input = Input::File(file.path().to_path_buf());
    let mut executor = executor(command);
    for _ in 0..2 {
        let io = executor.run(&[ATTEMPT]).unwrap().run.io.unwrap();
        assert_eq!(io.read_bytes - empty.read_bytes, 100_000);
    }
}

#[test]
fn standard_output_goes_to_the_file_which_is_emptied_before_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut command = command(&["echo", "once"]);
    command.output = Output::File(target.clone());
    let mut executor = executor(command);
    executor.run(&[ATTEMPT]).unwrap();
    executor.run(&[ATTEMPT]).unwrap();
    assert_eq!(std::fs::read_to_string(target).unwrap(), "once\n");
}

#[test]
fn arguments_may_be_any_bytes() {
    use std::os::unix::ffi::OsStringExt;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut command = command(&["printf", "%s"]);
    command
        .arguments
        .push(OsString::from_vec(vec![b'a', 0xff, b' ', b'\n', 0x80]));
    command.output = Output::File(target.clone());
    run(command);
    assert_eq!(
        std::fs::read(target).unwrap(),
        [b'a', 0xff, b' ', b'\n', 0x80]
    );
}

#[test]
fn directory_environment_and_iteration_reach_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = in_shell("echo $PWD $COLOUR $FATHOM_ITERATION $HYPERFINE_ITERATION > out");
    command.directory = Some(folder.path().to_path_buf());
    command.variables = vec![("COLOUR".into(), "deep blue".into())];
    executor(command)
        .run(&[Attempt {
            round: 6,
            ..ATTEMPT
        }])
        .unwrap();
    let text = std::fs::read_to_string(folder.path().join("out")).unwrap();
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(text, format!("{} deep blue 6 6\n", here.display()));
}

#[test]
fn a_round_to_warm_up_has_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = in_shell("echo $FATHOM_ITERATION > out-$HYPERFINE_ITERATION");
    command.directory = Some(folder.path().to_path_buf());
    let mut executor = executor(command);
    for warmup in [true, false] {
        executor.run(&[Attempt { warmup, ..ATTEMPT }]).unwrap();
    }
    let said = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(said("out-warmup-0"), "warmup-0\n");
    assert_eq!(said("out-0"), "0\n");
}

#[test]
fn the_size_of_the_environment_varies_unless_it_is_fixed() {
    let sizes = |vary| {
        let folder = tempfile::tempdir().unwrap();
        let mut command = in_shell("env | wc -c >> sizes");
        command.directory = Some(folder.path().to_path_buf());
        let options = ProcessOptions {
            vary_environment_size: vary,
            ..options()
        };
        let mut executor =
            ProcessExecutor::new(vec![(command, Hooks::default())], options).unwrap();
        for round in [0, 1, 1, 2, 3] {
            executor.run(&[Attempt { round, ..ATTEMPT }]).unwrap();
        }
        let text = std::fs::read_to_string(folder.path().join("sizes")).unwrap();
        text.lines().map(str::to_string).collect::<Vec<_>>()
    };
    let varied = sizes(true);
    assert_eq!(varied[1], varied[2], "the runs of a round share theirs");
    assert_ne!(varied[0], varied[1]);
    assert_ne!(varied[3], varied[4]);
    let fixed = sizes(false);
    assert!(fixed.iter().all(|size| *size == fixed[0]));
}

#[test]
fn a_pinned_command_sees_only_its_cpus() {
    let mut executor = ProcessExecutor::new(
        vec![(in_shell("[ $(nproc) = 1 ]"), Hooks::default())],
        ProcessOptions {
            pin: vec![0],
            ..options()
        },
    )
    .unwrap();
    assert_eq!(executor.run(&[ATTEMPT]).unwrap().run.exit, Exit::Code(0));

    let mut nowhere = ProcessExecutor::new(
        vec![(command(&["true"]), Hooks::default())],
        ProcessOptions {
            pin: vec![4000],
            ..options()
        },
    )
    .unwrap();
    assert!(matches!(
        nowhere.run(&[ATTEMPT]),
        Err(MeasureError::Pin { .. })
    ));
}

#[test]
fn peak_memory_is_the_programs_own_and_not_that_of_fathom() {
    // 200 MiB, written to, so that our own peak is far above that of any small program.
    let ballast = vec![1u8; 200 << 20];
    let report = run(command(&["true"]));
    assert!(ballast.iter().step_by(4096).all(|b| *b == 1));
    let peak = report.run.peak_memory_bytes;
    assert!((100 << 10..20 << 20).contains(&peak), "{peak} bytes");
}

#[test]
fn memory_that_is_touched_shows_as_peak_and_as_faults() {
    let peak = |mib: u32| {
        let bytes = format!("bs={mib}M");
        run(command(&[
            "dd",
            "if=/dev/zero",
            "of=/dev/null",
            &bytes,
            "count=1",
        ]))
        .run
    };
    let (small, large) = (peak(1), peak(64));
    let grown = (large.peak_memory_bytes - small.peak_memory_bytes) >> 20;
    assert!((60..=66).contains(&grown), "{grown} MiB");
}

#[test]
fn one_thread_without_children_has_undisturbed_time() {
    let mut executor = executor(command(&["true"]));
    let known = (0..40)
        .filter_map(|_| {
            let run = executor.run(&[ATTEMPT]).unwrap().run;
            let undisturbed = run.undisturbed_ns?;
            assert!(undisturbed <= run.wall_ns);
            Some(())
        })
        .count();
    assert!(
        known > 0,
        "on the busiest machine some of 40 runs are seen to their end at once"
    );
}

#[test]
fn a_missing_input_or_interpreter_is_named() {
    let mut no_input = command(&["cat"]);
    no_input.input = Input::File("/no/such/input".into());
    match executor(no_input).run(&[ATTEMPT]) {
        Err(MeasureError::Input { path, .. }) => assert_eq!(path, Path::new("/no/such/input")),
        other => panic!("{other:?}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = executor(command(&[script.to_str().unwrap()]))
        .run(&[ATTEMPT])
        .unwrap_err();
    assert!(error.to_string().contains("interpreter"), "{error}");
}

#[test]
fn more_arguments_than_the_kernel_takes_are_an_error_that_says_so() {
    let mut huge = command(&["true"]);
    huge.arguments.extend(std::iter::repeat_n(
        OsString::from("x".repeat(100_000)),
        100,
    ));
    let error = executor(huge).run(&[ATTEMPT]).unwrap_err();
    assert!(matches!(error, MeasureError::TooLong { .. }), "{error}");
}

#[test]
fn hooks_come_before_and_after_each_run_and_know_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let hook = |role, line: &str| {
        Some(Hook {
            role,
            arguments: vec!["sh".into(), "-c".into(), line.into()],
            text: line.to_string(),
            directory: Some(folder.path().to_path_buf()),
            variables: Vec::new(),
            show_output: false,
        })
    };
    let mut command = in_shell("echo run >> log");
    command.directory = Some(folder.path().to_path_buf());
    let hooks = Hooks {
        setup: hook("--setup", "echo setup >> log"),
        prepare: hook("--prepare", "echo prepare $FATHOM_ITERATION >> log"),
        conclude: hook("--conclude", "echo conclude >> log"),
        cleanup: hook("--cleanup", "echo cleanup >> log; echo sorry >&2; exit 9"),
    };
    let mut executor = ProcessExecutor::new(vec![(command, hooks)], options()).unwrap();
    executor.set_up(0).unwrap();
    executor.run(&[ATTEMPT]).unwrap();
    executor
        .run(&[Attempt {
            round: 1,
            ..ATTEMPT
        }])
        .unwrap();
    match executor.clean_up(0) {
        Err(MeasureError::HookFailed {
            role, exit, stderr, ..
        }) => {
            assert_eq!((role, exit.as_str()), ("--cleanup", "exit code 9"));
            assert_eq!(stderr, b"sorry\n");
        }
        other => panic!("{other:?}"),
    }
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        [
            "setup",
            "prepare 0",
            "run",
            "conclude",
            "prepare 1",
            "run",
            "conclude",
            "cleanup"
        ]
    );
}
