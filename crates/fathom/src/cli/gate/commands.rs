//! Judges two commands instead of a suite.

use fathom_conduct::gate::{GatePlan, GateTarget, MARGIN, asked};
use fathom_model::GateSide;

use super::{Arguments, history, rule, today};
use crate::cli::failure::Failure;
use crate::cli::suite_name;
use crate::cli::target::{self, Source};

/// Plans a single benchmark of both commands.
///
/// # Errors
/// A command that can't be run.
pub(super) fn plan(arguments: &Arguments, base: &str, head: &str) -> Result<GatePlan, Failure> {
    let found = |text: &str, index: usize| {
        let source = Source::Line(text.to_owned());
        target::target(&arguments.run_options, None, &source, index, 2, &Vec::new())
    };
    let name = suite_name::of(head).unwrap_or_else(|| head.to_owned());
    let at_base = found(base, 0)?;
    let side = |text: &str| GateSide {
        name: text.to_owned(),
        revision: None,
    };
    let margin = arguments.margin.unwrap_or(MARGIN);
    let (judged, budgets) = asked(&arguments.metrics()?, margin);
    Ok(GatePlan {
        base: side(base),
        head: side(head),
        targets: vec![GateTarget {
            name,
            twin: at_base.clone(),
            base: at_base,
            head: found(head, 1)?,
            judged,
            budgets,
        }],
        folders: Vec::new(),
        left_out: Vec::new(),
        settings_changed: Vec::new(),
        waivers: Vec::new(),
        today: today(),
        margin,
        rule: rule(arguments, true),
        parts: fathom_fleet::parts_of_this_process(),
        time: arguments.time,
        warmup: arguments.warmup.unwrap_or(1),
        history: history(arguments)?,
        seed: arguments.seed.value(),
        ignore_failure: arguments.failures.ignored()?,
        require_quiet: arguments.quiet.require_quiet,
        terms: arguments.run_options.terms(),
    })
}
