//! Output of `fathom why`. Every snapshot was reviewed as a user would read it.

mod explained;

use explained::tree::many;
use explained::{attached, clean, findings};
use fathom_model::{CodePlace, Explanation, ThreadRole, TimeCategory, WhereRow};
use fathom_report::{Screen, WhyOptions, columns, explain_terminal};

fn print(explanation: &Explanation) -> String {
    explain_terminal(explanation, &WhyOptions::default())
}

/// An explanation in which every untrusted text tries to affect the terminal or a page.
fn hostile() -> Explanation {
    let mut explanation = many(3);
    explained::hostile::spoil(&mut explanation);
    explanation
}

#[test]
fn an_unbuffered_program() {
    insta::assert_snapshot!(print(&findings()));
}

#[test]
fn a_clean_program() {
    insta::assert_snapshot!(print(&clean()));
}

#[test]
fn a_process_that_ran_already() {
    let text = print(&attached());
    assert!(text.starts_with("PID 4120 (app"), "{text}");
    insta::assert_snapshot!(text);
    let mut ended = attached();
    ended.end = "exit code 3".into();
    if let Some(process) = &mut ended.process {
        process.ended = true;
    }
    let text = print(&ended);
    assert!(
        text.contains("observed for 2.0 s, until it exited\n"),
        "{text}"
    );
    assert!(text.contains("ended: exit code 3"), "{text}");
}

#[test]
fn shares_only() {
    let mut explanation = findings();
    explanation.explaining.tier = "ptrace".into();
    explanation.explaining.slowdown = 13.4;
    explanation.explaining.times_are_quoted = false;
    explanation.explaining.not_visible = [
        "Page faults.",
        "Time ready but not running.",
        "Stolen time.",
        "Kernel threads.",
    ]
    .map(String::from)
    .to_vec();
    insta::assert_snapshot!(print(&explanation));
    let verbose = WhyOptions {
        screen: Screen {
            verbose: true,
            ..Screen::default()
        },
        syscalls: true,
        ..WhyOptions::default()
    };
    let text = explain_terminal(&explanation, &verbose);
    let (_, tables) = text
        .split_once("Where the median wall time goes")
        .expect("the account");
    for line in tables.lines() {
        let has_time = line.contains(" ms") || line.contains(" µs");
        assert!(!has_time, "{line}");
    }
}

#[test]
fn many_processes() {
    insta::assert_snapshot!(print(&many(120)));
}

#[test]
fn every_table() {
    let options = WhyOptions {
        screen: Screen {
            verbose: true,
            ..Screen::default()
        },
        syscalls: true,
        functions: true,
        threads: true,
        processes: true,
    };
    insta::assert_snapshot!(explain_terminal(&many(4), &options));
}

#[test]
fn a_run_that_failed_with_losses_and_warnings() {
    let mut explanation = clean();
    explanation.end = "signal 11 (segmentation fault)".into();
    explanation.explaining.lost = vec!["312 events of 5,000,000 did not fit the buffer".into()];
    explanation.warnings =
        vec!["The runs fall into two groups, near 180 ms and near 240 ms.".into()];
    insta::assert_snapshot!(print(&explanation));
}

#[test]
fn sixty_columns() {
    let options = WhyOptions {
        screen: Screen {
            width: 60,
            ..Screen::default()
        },
        ..WhyOptions::default()
    };
    insta::assert_snapshot!(explain_terminal(&many(120), &options));
}

#[test]
fn a_terminal_without_unicode() {
    let options = WhyOptions {
        screen: Screen {
            unicode: false,
            ..Screen::default()
        },
        ..WhyOptions::default()
    };
    let text = explain_terminal(&findings(), &options);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn hostile_names() {
    insta::assert_snapshot!(print(&hostile()));
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    for unicode in [true, false] {
        let options = WhyOptions {
            screen: Screen {
                unicode,
                verbose: true,
                ..Screen::default()
            },
            syscalls: true,
            functions: true,
            threads: true,
            processes: true,
        };
        let text = explain_terminal(&hostile(), &options);
        for character in text.chars().filter(|character| *character != '\n') {
            assert!(!character.is_control(), "{character:?}");
            assert!(
                !('\u{202a}'..='\u{202e}').contains(&character),
                "{character:?}"
            );
        }
    }
}

#[test]
fn no_line_is_wider_than_asked() {
    for width in [32, 40, 60, 79, 80, 100, 200] {
        for explanation in [clean(), findings(), many(40), hostile()] {
            let options = WhyOptions {
                screen: Screen {
                    width,
                    verbose: true,
                    ..Screen::default()
                },
                syscalls: true,
                functions: true,
                threads: true,
                processes: true,
            };
            for line in explain_terminal(&explanation, &options).lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn an_answer_fits_a_screen_of_24_lines_with_6_more_for_each_further_finding() {
    let names = explained::names();
    // Use both cores: in a debug build, all names take a minute on one core.
    let halves = names.chunks(names.len().div_ceil(2));
    std::thread::scope(|scope| {
        let threads: Vec<_> = halves
            .map(|half| scope.spawn(|| half.iter().for_each(|name| assert_fits(name))))
            .collect();
        for thread in threads {
            thread.join().expect("every answer fits");
        }
    });
}

fn assert_fits(name: &str) {
    let mut explanation = explained::recorded(name);
    // The rows of where the time goes take five more lines, or ten if names are long.
    explanation.whereabouts.clear();
    let most = 24 + 6 * explanation.findings.len().saturating_sub(1);
    let text = print(&explanation);
    let lines = text.lines().count();
    assert!(lines <= most, "{name}: {lines} lines\n{text}");
    assert!(!text.contains("stands out"), "{text}");
}

/// A clean program whose time is spent at three places with long names.
fn placed() -> Explanation {
    let place = |function: &str, source: Option<(&str, u32)>| CodePlace {
        function: Some(function.to_owned()),
        source_file: source.map(|(file, _)| file.to_owned()),
        line: source.map(|(_, line)| line),
        binary: Some("/bin/tool".to_owned()),
        ..CodePlace::default()
    };
    let row = |share: f64, kind: TimeCategory| WhereRow {
        share,
        ns: (share * 1e8) as u64,
        kind,
        call: None,
        object: None,
        place: CodePlace::default(),
        group: None,
        callers: Vec::new(),
        count: None,
        role: None,
        changed_by: Vec::new(),
    };
    let mut explanation = clean();
    explanation.whereabouts = vec![
        WhereRow {
            place: place(
                "<regex::bytes::Regex as core::str::FromStr>::from_str",
                None,
            ),
            callers: vec![place(
                "tool::environment::parse_line",
                Some(("/src/env.rs", 41)),
            )],
            ..row(0.61, TimeCategory::UserCode)
        },
        WhereRow {
            call: Some("newfstatat".to_owned()),
            object: Some("/home/me/projects/tool/node_modules/ (12,000 files)".to_owned()),
            place: place(
                "std::filesystem::status(std::filesystem::path const&)",
                None,
            ),
            callers: vec![place("walk", Some(("walk.cc", 9)))],
            count: Some(500_004),
            ..row(0.2, TimeCategory::KernelFiles)
        },
        WhereRow {
            call: Some("futex".to_owned()),
            object: None,
            place: CodePlace {
                function: None,
                binary: Some("/usr/lib/libc.so.6".to_owned()),
                offset: Some(0x9d3a0),
                after: Some("sscanf".to_owned()),
                symbols_in: Some("libc6-dbg".to_owned()),
                ..CodePlace::default()
            },
            callers: vec![place("take", Some(("lock.c", 3)))],
            count: Some(12),
            ..row(0.1, TimeCategory::Locks)
        },
        row(0.09, TimeCategory::PageFaults),
        row(0.04, TimeCategory::KernelIo),
    ];
    explanation
}

#[test]
fn places_are_whole_at_every_width() {
    let at = |width| {
        let options = WhyOptions {
            screen: Screen {
                width,
                ..Screen::default()
            },
            ..WhyOptions::default()
        };
        explain_terminal(&placed(), &options)
    };
    insta::assert_snapshot!(at(80));
    insta::assert_snapshot!(at(40));
    for width in [40, 60, 80, 120] {
        let text = at(width);
        assert!(!text.contains('…'), "{text}");
        for name in [
            "Regex::from_str",
            "parse_line (env.rs:41)",
            "500,004 calls",
            "lock.c:3",
        ] {
            let lines = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            assert!(lines.contains(name), "{width}: {name}\n{text}");
        }
    }
    let headline = "61 % in Regex::from_str <- environment::parse_line (env.rs:41); no known cause";
    assert!(at(80).contains(headline), "{}", at(80));
}

/// A collector's work is spread over several rows. The program's part is larger than each of them, but not
/// larger than their sum.
#[test]
fn garbage_collection_is_added_up_and_says_what_changes_it() {
    let mut explanation = placed();
    explanation.whereabouts[0].share = 0.39;
    for (row, share) in explanation.whereabouts[1..4]
        .iter_mut()
        .zip([0.31, 0.2, 0.1])
    {
        row.share = share;
        row.role = Some(ThreadRole::Collector);
        row.changed_by = vec!["-Xmx".to_owned()];
    }
    explanation.timed.peak_memory.value = 58.0 * 1024.0 * 1024.0;
    let text = print(&explanation).replace('\n', " ");
    let headline = "61 % in garbage collection of a process of 58.0 MiB; changed by -Xmx";
    assert!(text.contains(headline), "{text}");
    explanation.whereabouts[0].share = 0.62;
    assert!(print(&explanation).contains("62 % in Regex::from_str"));
}

#[test]
fn a_row_that_stands_out_quotes_the_source_line() {
    let mut explanation = placed();
    let caller = &mut explanation.whereabouts[0].callers[0];
    caller.source_text = Some("let pattern: Regex = PATTERN.parse()?;\u{1b}[31m".to_owned());
    let text = print(&explanation);
    let line = "env.rs:41: let pattern: Regex = PATTERN.parse()?;";
    assert!(text.contains(line) && !text.contains('\u{1b}'), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    explanation.whereabouts[0].share = 0.1;
    assert!(!print(&explanation).contains(line), "a small row");
}

#[test]
fn colour_changes_no_character() {
    let options = WhyOptions {
        screen: Screen {
            color: true,
            ..Screen::default()
        },
        ..WhyOptions::default()
    };
    let colored = explain_terminal(&findings(), &options);
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        let end = rest[start..].find('m').expect("an escape sequence ends");
        rest = &rest[start + end + 1..];
    }
    plain.push_str(rest);
    assert!(colored.len() > plain.len());
    assert_eq!(plain, print(&findings()));
}

#[test]
fn the_command_that_gives_names_is_whole_and_escaped() {
    let mut explanation = clean();
    let command = format!(
        "NODE_OPTIONS='--a --b' fathom why -- node {}",
        "x".repeat(200)
    );
    explanation.explaining.names_by = Some(format!("{command}\u{1b}[2J"));
    let text = print(&explanation);
    assert!(
        text.ends_with(&format!("\n  {command}\\u{{1b}}[2J\n")),
        "{text}"
    );
}
