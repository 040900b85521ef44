//! What the report looks like. Every snapshot was read as a user reads it.

mod support;

use fathom_model::{BenchRecord, Exit, InputFrom, OutputTo, StopReason, Verdict};
use fathom_report::{SortOrder, TerminalOptions, columns, terminal};
use support::program::Program;
use support::{outcome, outcome_of, session, verdicts, warning};

fn print(record: &BenchRecord) -> String {
    terminal(record, &TerminalOptions::default())
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

/// A machine on which every run waits for its neighbours.
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
    assert!(
        place("3: LC_ALL=C") < place("2: sort --parallel=2"),
        "{text}"
    );
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
    let line = format!("1: {failed} of {failed} runs ended otherwise: {failed} by the time-out");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn brief_lines_stay_within_the_width_and_let_no_name_act() {
    for record in [two_faster(), three(), busy(), hostile(), undecided()] {
        for width in [32, 60, 80, 120] {
            let options = TerminalOptions {
                brief: true,
                width,
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
            width: 60,
            ..TerminalOptions::default()
        }
    ));
}

#[test]
fn a_terminal_without_unicode() {
    let text = terminal(
        &hostile(),
        &TerminalOptions {
            unicode: false,
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
            color: true,
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
                        width,
                        unicode,
                        ..TerminalOptions::default()
                    },
                );
                for line in text.lines() {
                    assert!(columns(line) <= width, "{width}: {line}");
                    assert!(!line.ends_with(' '), "trailing space: {line:?}");
                }
            }
        }
    }
}
