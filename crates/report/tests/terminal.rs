//! The layout of the report. Every snapshot was reviewed as a user would read it.

mod support;

use fathom_model::{BenchRecord, Exit, InputFrom, OutputTo, StopReason, Verdict};
use fathom_report::{Screen, SortOrder, TerminalOptions, columns, terminal};
use support::program::Program;
use support::{outcome, outcome_of, session, verdicts, warning};

fn print(record: &BenchRecord) -> String {
    terminal(record, &TerminalOptions::default())
}

fn verbose(record: &BenchRecord) -> String {
    let options = TerminalOptions {
        screen: Screen {
            verbose: true,
            ..Screen::default()
        },
        ..TerminalOptions::default()
    };
    terminal(record, &options)
}

fn brief(record: &BenchRecord) -> String {
    let options = TerminalOptions {
        brief: true,
        ..TerminalOptions::default()
    };
    terminal(record, &options)
}

fn grep() -> Program {
    Program {
        preempted: vec![(17, 0.008), (31, 0.011)],
        mysterious: vec![(40, 0.006)],
        ..Program::new("grep -c needle haystack.txt", 0.0118)
    }
}

fn ripgrep() -> Program {
    Program {
        read_bytes: 12_911_020,
        read_calls: 14,
        memory: 6_111_232,
        ..Program::new("rg -c needle haystack.txt", 0.0052)
    }
}

/// A program on a machine where every run waits for its neighbours.
fn disturbed(program: Program) -> Program {
    Program {
        cpu_wait: program.cpu * 0.6,
        ..program
    }
}

fn two_faster() -> BenchRecord {
    let mut record = session(&[grep(), ripgrep()], 50);
    for benchmark in &mut record.benchmarks {
        benchmark.input = InputFrom::File("/srv/data/haystack.txt".into());
        benchmark.output = OutputTo::Pipe;
    }
    record
}

fn three() -> BenchRecord {
    let mut record = session(
        &[
            Program {
                other_waits: 0.03,
                ..Program::new("sort big.txt", 0.412)
            },
            Program {
                threads: 2,
                memory: 214_958_080,
                ..Program::new("sort --parallel=2 big.txt", 0.431)
            },
            Program {
                kernel: 0.4,
                ..Program::new("LC_ALL=C sort big.txt", 0.166)
            },
        ],
        24,
    );
    outcome_of(&mut record).warnings = vec![
        warning(
            Some(1),
            "two_modes",
            "the runs fall into two groups, near 230 ms and near 290 ms: the median describes neither",
        ),
        warning(
            None,
            "governor",
            "the frequency governor is 'powersave': the first runs after a pause are slower",
        ),
    ];
    record
}

fn busy() -> BenchRecord {
    let slower = Program {
        name: "./parse-v2 log.txt".into(),
        ..Program::new("", 0.0306)
    };
    session(
        &[
            disturbed(Program::new("./parse-v1 log.txt", 0.030)),
            disturbed(slower),
        ],
        40,
    )
}

#[test]
fn one_command() {
    let record = session(&[grep()], 50);
    insta::assert_snapshot!(print(&record));
}

#[test]
fn two_commands_one_faster() {
    let record = two_faster();
    assert_eq!(verdicts(&record), [Verdict::Faster]);
    insta::assert_snapshot!(print(&record));
}

#[test]
fn all_that_is_known_under_headings() {
    insta::assert_snapshot!(verbose(&two_faster()));
}

#[test]
fn all_that_is_known_of_one_command() {
    insta::assert_snapshot!(verbose(&session(&[grep()], 50)));
}

#[test]
fn all_that_is_known_of_a_busy_machine() {
    insta::assert_snapshot!(verbose(&busy()));
}

#[test]
fn slow_runs_that_were_throttled_did_not_wait_for_others() {
    let preempted = vec![(5, 0.02), (11, 0.02), (17, 0.02)];
    let program = Program {
        preempted,
        ..Program::new("work", 0.02)
    };
    let mut record = session(&[program], 40);
    assert!(verbose(&record).contains("waited for a CPU"));
    for run in &mut record.runs {
        run.throttled_ns = run.run_queue_wait_ns.filter(|wait| *wait > 10_000_000);
    }
    let text = verbose(&record);
    assert!(text.contains("all throttled"), "{text}");
    assert!(!text.contains("waited for a CPU"), "{text}");
}

#[test]
fn all_that_is_known_of_three_commands() {
    let mut record = three();
    let note = warning(Some(2), "steal", "CPU steal in 1 run");
    outcome_of(&mut record).notes.push(note);
    let text = verbose(&record);
    assert!(
        !print(&record).contains("CPU steal"),
        "a note is for who asks"
    );
    insta::assert_snapshot!(text);
}

fn many(count: usize) -> BenchRecord {
    let programs: Vec<Program> = (0..count)
        .map(|n| {
            Program::new(
                &format!("sort --algorithm={n} big.txt"),
                0.02 + 0.001 * n as f64,
            )
        })
        .collect();
    session(&programs, 20)
}

#[test]
fn ten_commands() {
    insta::assert_snapshot!(print(&many(10)));
}

/// Adds as many warnings as possible.
fn full_of_warnings(mut record: BenchRecord) -> BenchRecord {
    let message =
        "a message that is so long that it takes two lines of a terminal that has eighty columns";
    for n in 0..8 {
        let about = Some(n % record.benchmarks.len());
        outcome_of(&mut record)
            .warnings
            .push(warning(about, "x", message));
    }
    record
}

/// The number of lines that the announcement on standard error takes in a comparison.
const ANNOUNCED: usize = 1;

#[test]
fn an_answer_fits_its_lines_however_much_is_to_be_said() {
    let long = "tool --with many --options and /a/long/path/to/some/input/file.txt --and more";
    let long = |n: u32| Program::new(&format!("{long} {n}"), 0.02 + 0.002 * f64::from(n));
    let twos = [
        two_faster(),
        busy(),
        undecided(),
        session(&[grep(), ripgrep()], 1),
        session(&[grep(), ripgrep()], 5),
        session(&[long(1), long(2)], 30),
    ];
    let ones = [
        session(&[grep()], 50),
        session(&[long(1)], 30),
        session(&[Program::new("/bin/true", 0.000_45)], 20),
    ];
    let tens = [many(10), session(&[0; 10].map(long), 20)];
    for (records, limit) in [
        (&ones[..], 8),
        (&twos, 14 - ANNOUNCED),
        (&tens, 22 - ANNOUNCED),
    ] {
        for record in records {
            for record in [record.clone(), full_of_warnings(record.clone())] {
                let text = print(&record);
                // A command to be copied is not cut and may take more lines.
                let (before, command) = text.split_once("why: fathom why ").unwrap();
                let lines = before.trim_end_matches(|c| c != '\n').lines().count() + 1;
                assert!(lines <= limit, "more than {limit}:\n{text}");
                let goes_on = command
                    .lines()
                    .rev()
                    .skip(1)
                    .all(|line| line.ends_with('\\'));
                assert!(goes_on && !command.contains('…'), "{text}");
                assert!(text.contains("details: -v"), "{text}");
            }
        }
    }
    let text = print(&full_of_warnings(two_faster()));
    assert!(
        text.contains(" more to know: -v"),
        "what has no room is counted: {text}"
    );
}

#[test]
fn the_verdict_stands_within_the_first_lines() {
    for (record, verdict) in [
        (two_faster(), "faster than 1"),
        (busy(), "slower than 1"),
        (undecided(), "undecided"),
        (session(&[grep(), ripgrep()], 5), "too few rounds (5 of 8)"),
    ] {
        let text = print(&record);
        let first: Vec<&str> = text.lines().take(6 - ANNOUNCED).collect();
        assert!(first.join("\n").contains(verdict), "{text}");
    }
}

#[test]
fn the_sentence_the_row_and_the_details_have_one_ratio() {
    let ratio = |text: &str| -> Vec<String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_ratio = |pair: &&[&str]| pair[1].trim_end_matches(',') == "faster";
        words
            .windows(2)
            .filter(is_ratio)
            .map(|pair| pair[0].to_owned())
            .collect()
    };
    let record = two_faster();
    let said = [print(&record), brief(&record), verbose(&record)].map(|text| ratio(&text));
    assert!(
        !said[0].is_empty() && !said[1].is_empty() && said[2].len() >= 2,
        "{said:?}"
    );
    assert!(
        said.iter().flatten().all(|one| *one == said[0][0]),
        "{said:?}"
    );
}

#[test]
fn times_of_a_table_have_one_unit() {
    let record = session(
        &[Program::new("./a", 0.000_9), Program::new("./b", 0.0021)],
        20,
    );
    let text = print(&record);
    let rows: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert!(rows.iter().all(|row| row.contains(" ms ")), "{text}");
}

#[test]
fn two_commands_that_are_the_same() {
    let record = session(
        &[
            Program::new("./a.out", 0.0213),
            Program::new("./b.out", 0.02131),
        ],
        50,
    );
    assert_eq!(verdicts(&record), [Verdict::Same]);
    insta::assert_snapshot!(print(&record));
}

fn undecided() -> BenchRecord {
    let noisy = |name: &str, cpu: f64| Program {
        noise: 0.12,
        ..Program::new(name, cpu)
    };
    let mut record = session(
        &[
            noisy("./before --all", 0.0213),
            noisy("./after --all", 0.0216),
        ],
        50,
    );
    outcome_of(&mut record).stop = StopReason::TimeBudget;
    record
}

#[test]
fn an_undecided_comparison() {
    let record = undecided();
    assert_eq!(verdicts(&record), [Verdict::Undecided]);
    insta::assert_snapshot!(print(&record));
}

#[test]
fn three_commands_with_warnings() {
    insta::assert_snapshot!(print(&three()));
}

#[test]
fn the_fastest_comes_first_when_asked() {
    let options = TerminalOptions {
        sort: SortOrder::Median,
        ..TerminalOptions::default()
    };
    let text = terminal(&three(), &options);
    let place = |name: &str| text.rfind(name).expect("the name is shown");
    assert!(place("3  LC_ALL=C") < place("2  sort --par"), "{text}");
}

#[test]
fn an_interrupted_session() {
    let mut record = session(&[grep(), ripgrep()], 5);
    record.runs.pop();
    record.complete = false;
    record.outcome = Some(outcome(&record));
    outcome_of(&mut record).stop = StopReason::Interrupted;
    insta::assert_snapshot!(print(&record));
}

#[test]
fn a_single_round() {
    let mut record = session(&[grep(), ripgrep()], 1);
    outcome_of(&mut record).stop = StopReason::RunCount;
    insta::assert_snapshot!(print(&record));
}

#[test]
fn a_session_without_an_outcome() {
    let mut record = session(&[grep()], 5);
    record.complete = false;
    record.outcome = None;
    insta::assert_snapshot!(print(&record));
}

#[test]
fn ignored_failures_and_processes_left_behind() {
    let failing = vec![
        (3, Exit::Code(1)),
        (9, Exit::Code(1)),
        (20, Exit::Signal(11)),
        (25, Exit::TimedOut),
    ];
    let mut record = session(
        &[Program {
            failing,
            threads: 2,
            ..Program::new("./server --once", 0.142)
        }],
        30,
    );
    for run in record.runs.iter_mut().take(2) {
        run.left_behind = 2;
    }
    record.runs[12].major_faults = 240;
    record.runs[12].wall_ns *= 3;
    record.runs[14].wall_ns *= 2;
    record.runs[14].steal_ns = Some(60_000_000);
    record.outcome = Some(outcome(&record));
    insta::assert_snapshot!(print(&record));
}

#[test]
fn one_line_a_command() {
    insta::assert_snapshot!(brief(&two_faster()));
}

#[test]
fn one_line_a_command_that_is_undecided() {
    insta::assert_snapshot!(brief(&undecided()));
}

#[test]
fn one_line_a_command_after_one_round() {
    insta::assert_snapshot!(brief(&session(&[grep(), ripgrep()], 1)));
}

#[test]
fn one_line_a_command_with_warnings() {
    insta::assert_snapshot!(brief(&three()));
}

#[test]
fn brief_does_not_hide_that_runs_failed() {
    let mut record = two_faster();
    let runs = record.runs.len();
    let of_first = record.runs.iter_mut().filter(|run| run.benchmark == 0);
    of_first.for_each(|run| run.exit = fathom_model::Exit::TimedOut);
    let text = brief(&record);
    let failed = runs / 2;
    let line = format!("1: {failed} of {failed} failed (timed out)");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn brief_lines_stay_within_the_width_and_let_no_name_act() {
    for record in [two_faster(), three(), busy(), hostile(), undecided()] {
        for width in [32, 60, 80, 120] {
            let options = TerminalOptions {
                screen: Screen {
                    width,
                    ..Screen::default()
                },
                brief: true,
                ..TerminalOptions::default()
            };
            let text = terminal(&record, &options);
            assert!(!text.contains('\x1b'), "{text}");
            for line in text.lines() {
                assert!(columns(line) <= width, "{line:?} is wider than {width}");
            }
        }
    }
}

#[test]
fn a_busy_machine_where_the_clocks_disagree() {
    let record = busy();
    assert_eq!(verdicts(&record), [Verdict::Slower]);
    insta::assert_snapshot!(print(&record));
}

#[test]
fn a_short_command_with_the_floor() {
    let short = Program {
        read_bytes: 3980,
        read_calls: 8,
        write_calls: 0,
        written_bytes: 0,
        memory: 1_400_000,
        ..Program::new("/bin/true", 0.000_45)
    };
    insta::assert_snapshot!(print(&session(&[short], 200)));
}

#[test]
fn a_tail_that_moved() {
    let slow = (0..50)
        .filter(|round| round % 4 == 1)
        .map(|round| (round, 0.02))
        .collect();
    let tail = Program {
        mysterious: slow,
        ..Program::new("./cached --lookup", 0.0215)
    };
    insta::assert_snapshot!(print(&session(
        &[Program::new("./plain --lookup", 0.0213), tail],
        50
    )));
}

fn hostile() -> BenchRecord {
    let mut record = session(
        &[
            Program::new(
                "printf '\u{1b}[2J\u{1b}[31mgone' | tee \u{202e}gnp.exe",
                0.004,
            ),
            Program::new(
                "line one\nline two\ttab 日本語日本語日本語日本語 and a very long rest that can't fit into one line of any terminal",
                0.005,
            ),
        ],
        20,
    );
    record.benchmarks[0].command = "\u{9b}31m".into();
    record.benchmarks[0].output = OutputTo::File("/tmp/\u{7}bell\u{200b}".into());
    record.benchmarks[1].environment_variables = vec![("A\u{1b}".into(), "\u{fffd}".into())];
    record.environment.cpu_model = Some("evil\u{1b}]0;title\u{7}".into());
    outcome_of(&mut record).warnings = vec![warning(Some(0), "x", "stderr said \u{1b}[5mboo\r\n")];
    record
}

#[test]
fn hostile_names() {
    let text = print(&hostile());
    assert!(
        text.chars()
            .all(|character| character == '\n' || !character.is_control())
    );
    insta::assert_snapshot!(text);
}

#[test]
fn sixty_columns() {
    insta::assert_snapshot!(terminal(
        &two_faster(),
        &TerminalOptions {
            screen: Screen {
                width: 60,
                ..Screen::default()
            },
            ..TerminalOptions::default()
        }
    ));
}

#[test]
fn a_terminal_without_unicode() {
    let text = terminal(
        &hostile(),
        &TerminalOptions {
            screen: Screen {
                unicode: false,
                ..Screen::default()
            },
            ..TerminalOptions::default()
        },
    );
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn with_colour_the_text_is_the_same() {
    let record = three();
    let coloured = terminal(
        &record,
        &TerminalOptions {
            screen: Screen {
                color: true,
                ..Screen::default()
            },
            ..TerminalOptions::default()
        },
    );
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        let end = rest[start..].find('m').expect("only colours are used");
        rest = &rest[start + end + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, print(&record));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for record in [two_faster(), three(), busy(), hostile()] {
        for width in 32..=120 {
            for unicode in [true, false] {
                let text = terminal(
                    &record,
                    &TerminalOptions {
                        screen: Screen {
                            width,
                            unicode,
                            verbose: width % 2 == 0,
                            ..Screen::default()
                        },
                        ..TerminalOptions::default()
                    },
                );
                let (before, command) = text.split_once("why: fathom why").unwrap();
                for line in command.lines() {
                    // Only a word, or an option with its value, may exceed the width.
                    let word = line.trim().trim_end_matches(" \\");
                    let is_word = word.starts_with(['\'', '-']) || !word.contains(' ');
                    assert!(columns(line) <= width || is_word, "{width}: {line}");
                }
                for line in before.trim_end().lines() {
                    assert!(columns(line) <= width, "{width}: {line}");
                    assert!(!line.ends_with(' '), "trailing space: {line:?}");
                }
            }
        }
    }
}
