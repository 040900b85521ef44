//! Detects stages that hold back their output until their input ends, so that the next stage can't start.

use fathom_model::quantity::format_bytes;
use fathom_model::{PipeNote, PipeRecord, PipeStage};

use super::{MISLEADS, name, say, time};
use crate::file_name::file_name;
use crate::runtimes::{Language, Runtime, Topic, is_shell};

/// The maximum output of such a stage, in bytes. More than this would not have fitted into a library's
/// buffer, so part of it would have been written sooner. Buffers hold 4 KiB in the C library for a pipe, 8
/// KiB in Python, Rust and Java, and 64 KiB in programs that copy by blocks.
const MOST_HELD: u64 = 64 << 10;
/// The minimum work of the next stage after its first byte, as a share of the pipeline's wall time; with
/// less, delivering the byte sooner would gain nothing.
const WORTH_SOONER: f64 = 0.1;

/// Returns a note for a stage that had bytes long before it wrote any, and that wrote all of them at the end
/// of its input.
pub(super) fn holds_back(record: &PipeRecord, stage: usize) -> Option<PipeNote> {
    let round = record.observed()?;
    let run = round.stages.get(stage)?;
    let next = round.stages.get(stage + 1)?;
    let writer = round.stages.get(stage.checked_sub(1)?)?;
    let (first_in, last_in, first_out) = (run.first_in_ns?, run.last_in_ns?, run.first_out_ns?);
    let written = run
        .bytes_out
        .filter(|bytes| (1..=MOST_HELD).contains(bytes))?;
    let held = first_out.saturating_sub(first_in);
    let wall = round.wall_ns as f64;
    // A stage that computes meanwhile has a reason to hold back its output.
    let waited = run.wait_input_ns? >= held / 2;
    if first_out < last_in || (held as f64) < MISLEADS * wall || !waited {
        return None;
    }
    let after = next.end_ns.saturating_sub(first_out);
    // Live input from outside should be passed on as it arrives, regardless of the stages that follow.
    let outside = writer
        .other_wait_ns?
        .saturating_sub(writer.no_cpu_ns.unwrap_or(0));
    let is_live = outside >= writer.wall_ns() / 2;
    if (after as f64) < WORTH_SOONER * wall && !is_live {
        return None;
    }
    let change = change(record.stages.get(stage)?)?;
    let text = format!(
        "{} holds back its output until its input ends: in the observed round, its first byte of input came after \
         {}, its first byte of output after {}, and all {} were written at the end. {} had no input until then, and \
         then took another {}. {change}",
        name(record, stage),
        time(first_in as f64 / 1e9),
        time(first_out as f64 / 1e9),
        format_bytes(written as f64),
        name(record, stage + 1),
        time(after as f64 / 1e9),
    );
    Some(say("holds_output", Some(stage), text))
}

/// Options that make programs write each line at once.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["grep", "egrep", "fgrep", "rg", "ugrep"],
        "--line-buffered",
    ),
    (&["sed"], "-u"),
    (&["jq"], "--unbuffered"),
    (&["tcpdump", "tshark"], "-l"),
];

/// Statements in scripts with the same effect.
const STATEMENTS: &[(&[&str], &str)] = &[(
    &["awk", "gawk", "mawk", "nawk"],
    "Call `fflush()` after each print (mawk: also `-W interactive`).",
)];

/// Programs that leave buffering to the C library.
const BY_THE_LIBRARY: &[&str] = &[
    "cut", "tr", "uniq", "nl", "fold", "fmt", "expand", "unexpand", "paste", "rev", "join", "comm",
];

/// Programs that can't write before they have all input, or that write so much that a single line doesn't
/// matter.
const NEED_ALL: &[&str] = &[
    "sort",
    "tac",
    "shuf",
    "tail",
    "wc",
    "tsort",
    "column",
    "sponge",
    "cksum",
    "sum",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "gzip",
    "pigz",
    "bzip2",
    "xz",
    "zstd",
    "lz4",
    "brotli",
    "zip",
    "openssl",
    "gpg",
];

/// Options with which the output doesn't consist of lines.
const COUNTS: &[&str] = &["-c", "--count", "-l", "-L", "-q", "-s", "--slurp"];

/// Returns what to change; `None` if the program can't write sooner.
fn change(stage: &PipeStage) -> Option<String> {
    let words = words(stage);
    let path = words.first()?;
    let program = file_name(path);
    let is = |names: &[&str]| names.contains(&program);
    let given = |option: &str| words.iter().any(|word| word == option);
    if is(NEED_ALL)
        || is(&["grep", "egrep", "fgrep", "rg", "jq", "uniq"]) && COUNTS.iter().any(|o| given(o))
    {
        return None;
    }
    let runtime = Runtime::of(Language::from_program_name(program));
    let option = OPTIONS.iter().find(|(names, _)| is(names));
    let option = option
        .map(|(_, option)| *option)
        .or(runtime.line_option.as_deref());
    if let Some(option) = option.filter(|option| !given(option)) {
        return Some(format!("`{program} {option}` writes each line at once."));
    }
    if let Some((_, statement)) = STATEMENTS.iter().find(|(names, _)| is(names)) {
        // An END block needs all of the input.
        return (!words.iter().any(|word| word.contains("END"))).then(|| (*statement).to_owned());
    }
    if is(BY_THE_LIBRARY) {
        return Some(format!("`stdbuf -oL {program}` writes each line at once."));
    }
    Some(runtime.advice(&[Topic::Flush]).to_owned())
}

/// Returns the words of the stage's command. If a shell runs a single command, these are the words of that
/// command.
fn words(stage: &PipeStage) -> Vec<String> {
    match &stage.arguments[..] {
        [shell, option, line]
            if option == "-c"
                && is_shell(shell)
                && !line.contains(['|', ';', '&', '(', '`', '\n']) =>
        {
            line.split_whitespace().map(str::to_owned).collect()
        }
        words => words.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(arguments: &[&str]) -> Option<String> {
        change(&PipeStage {
            name: "x".to_owned(),
            command: arguments.join(" "),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            working_directory: None,
        })
    }

    #[test]
    fn the_option_of_a_known_program_is_named() {
        let says = |arguments: &[&str], what: &str| {
            let text = changed(arguments).expect("a change");
            assert!(text.contains(what), "{text}");
        };
        says(&["/usr/bin/grep", "ERROR"], "`grep --line-buffered`");
        says(&["sed", "s/a/b/"], "`sed -u`");
        says(&["python3", "filter.py"], "`python3 -u`");
        says(&["cut", "-f1"], "`stdbuf -oL cut`");
        says(&["awk", "/x/"], "fflush()");
        says(&["sh", "-c", "grep ERROR"], "`grep --line-buffered`");
        says(&["./own"], "flush after each line");
        says(&["python3", "-u", "filter.py"], "flush after each line");
    }

    #[test]
    fn what_needs_all_of_its_input_is_not_to_be_changed() {
        for arguments in [
            &["sort", "-n"][..],
            &["grep", "-c", "x"],
            &["gzip", "-1"],
            &["awk", "{ n++ } END { print n }"],
            &["sh", "-c", "sort -u"],
        ] {
            assert_eq!(changed(arguments), None, "{arguments:?}");
        }
    }
}
