//! `fathom setup`: sets up what the kernel tier needs on this machine.

use clap::Args;
use fathom_conduct::setup::{self, Standing};
use fathom_report as report;

use crate::cli::failure::Failure;
use crate::cli::write;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom setup              what is needed, and how it stands
  fathom setup --yes        gives this program's file CAP_BPF and CAP_PERFMON, by setcap; asks sudo unless root
  fathom setup --undo       takes them away again

Whoever may run the file can then count and time calls in the kernel, of programs that he could trace anyway. An \
update of the file loses it. Other tiers need nothing: fathom why --tiers.

Exit codes: 0 it works, or it was said what is needed; 3 setcap failed; 4 it was set up and doesn't work.")]
pub(super) struct Arguments {
    /// Make the changes
    #[arg(long)]
    yes: bool,

    /// Undo the changes made by --yes
    #[arg(long, conflicts_with = "yes")]
    undo: bool,
}

/// Reports what is needed, sets it up, or undoes it. Returns the exit code.
///
/// # Errors
/// If the setup can't be made or undone, or has no effect.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let standing = setup::standing()?;
    if arguments.undo {
        return undo(&standing);
    }
    if arguments.yes && !standing.is_set_up {
        return set_up(&standing);
    }
    write::print(&said(&standing))?;
    Ok(0)
}

fn path(standing: &Standing) -> String {
    report::escape(&standing.program.to_string_lossy())
}

/// Describes the current state and what remains to be done.
fn said(standing: &Standing) -> String {
    let mut text = String::new();
    let mut line = |said: &str| {
        text.push_str(said);
        text.push('\n');
    };
    let path = path(standing);
    match (standing.kernel.available, standing.is_set_up) {
        (true, true) => line(&format!(
            "The kernel tier works: {path} has CAP_BPF and CAP_PERFMON."
        )),
        (true, false) => line("The kernel tier works: this user has the privileges for it."),
        (false, _) => line(&format!(
            "The kernel tier doesn't work here: {}",
            report::escape(&standing.kernel.why_not)
        )),
    }
    if !standing.kernel.available {
        for hindrance in &standing.hindrances {
            line(&format!("  {}", report::escape(hindrance)));
        }
        match (is_a_matter_of_rights(standing), standing.is_set_up) {
            (true, false) => {
                line("It needs CAP_BPF and CAP_PERFMON. To give them to this program's file:");
                let words = setup::command(&standing.program, false).join(" ");
                line(&format!(
                    "  {}        (fathom setup --yes does it)",
                    report::escape(&words)
                ));
            }
            (true, true) => line(&format!("{path} has them already.")),
            (false, _) => line(&report::escape(&standing.kernel.remedy)),
        }
    }
    text
}

fn is_a_matter_of_rights(standing: &Standing) -> bool {
    standing.kernel.errno == Some(libc::EPERM)
}

fn set_up(standing: &Standing) -> Result<i32, Failure> {
    if !standing.kernel.available && !is_a_matter_of_rights(standing) {
        let why = format!("{}; {}", standing.kernel.why_not, standing.kernel.remedy);
        return Err(Failure::Untrusted(format!(
            "more privileges would not help here: {why}"
        )));
    }
    let words = setup::command(&standing.program, false);
    write::print(&format!("{}\n", report::escape(&words.join(" "))))?;
    setup::run(&words)?;
    if setup::works_now(&standing.program)? {
        write::print("The kernel tier works now. fathom setup --undo reverts it.\n")?;
        return Ok(0);
    }
    let mut why =
        "the file has the capabilities, but the kernel tier still doesn't work".to_owned();
    for hindrance in &standing.hindrances {
        why.push_str("; ");
        why.push_str(hindrance);
    }
    Err(Failure::Untrusted(why))
}

fn undo(standing: &Standing) -> Result<i32, Failure> {
    if !standing.is_set_up {
        let path = path(standing);
        write::print(&format!(
            "{path} has no capabilities from Fathom: nothing to undo.\n"
        ))?;
        return Ok(0);
    }
    let words = setup::command(&standing.program, true);
    write::print(&format!("{}\n", report::escape(&words.join(" "))))?;
    setup::run(&words)?;
    Ok(0)
}
