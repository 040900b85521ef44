//! Hostile names.

use fathom_model::{CodePlace, Explanation, Finding};

/// Names that end a script, open another, create an image that fails, reverse the line, or clear the screen.
pub(crate) const NAMES: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "a\u{202e}gnp.exe",
    "\u{1b}[2J\u{7}\u{9b}31m",
    "{{script}}{{data}}<!--",
    "x\u{2028}y\u{2029}z\n\r\t&amp;]]>",
];

/// Inserts the hostile names into every text of `explanation`.
pub(crate) fn spoil(explanation: &mut Explanation) {
    let mut turn = 0;
    let mut next = || {
        turn += 1;
        NAMES[turn % NAMES.len()].to_owned()
    };
    explanation.command = NAMES.concat();
    explanation.arguments = NAMES.map(String::from).to_vec();
    explanation.end = next();
    explanation.explaining.tier = next();
    explanation.explaining.not_visible = vec![next(), next()];
    explanation.explaining.lost = vec![next()];
    explanation.warnings = NAMES.map(String::from).to_vec();
    explanation.environment.kernel = next();
    explanation.environment.cpu_model = Some(next());
    explanation.environment.host = Some(next());
    explanation.started_at = next();
    explanation.fathom_version = next();
    for row in &mut explanation.io {
        row.name = next();
    }
    for row in &mut explanation.whereabouts {
        (row.call, row.object) = (Some(next()), Some(next()));
        row.changed_by = vec![next()];
        row.place = place(&mut next);
        row.callers = vec![place(&mut next), place(&mut next)];
    }
    for step in explanation.paths.iter_mut().flat_map(|it| &mut it.steps) {
        (step.call, step.object) = (Some(next()), Some(next()));
        step.place = place(&mut next);
    }
    explanation.explaining.added = Some(next());
    for finding in &mut explanation.findings {
        (finding.object, finding.code) = (Some(next()), place(&mut next));
        finding.callers = vec![place(&mut next)];
    }
    for row in &mut explanation.calls {
        row.name = next();
    }
    for row in explanation
        .own_code
        .iter_mut()
        .flat_map(|it| &mut it.functions)
    {
        (row.function, row.file) = (Some(next()), next());
    }
    for row in &mut explanation.processes {
        row.programs = vec![vec![next(), next()], vec![next()]];
        row.end = next();
    }
    for thread in &mut explanation.threads {
        thread.name = next();
    }
    for phase in &mut explanation.phases {
        phase.name = next();
    }
    for stretch in &mut explanation.timeline {
        stretch.detail = Some(next());
    }
    for finding in &mut explanation.findings {
        spoil_finding(finding, &mut next);
    }
}

fn spoil_finding(finding: &mut Finding, next: &mut impl FnMut() -> String) {
    finding.statement = format!("The program read {} and {}.", next(), next());
    finding.advice = next();
    finding.limit = Some(next());
    finding.place.path = Some(next());
    for evidence in &mut finding.evidence {
        evidence.name = next();
        evidence.unit = next();
    }
}

/// Returns a place with hostile names; every other place has no function.
fn place(next: &mut impl FnMut() -> String) -> CodePlace {
    let function = next();
    CodePlace {
        function: (!function.contains("script")).then_some(function),
        source_file: Some(next()),
        line: Some(7),
        source_text: Some(next()),
        binary: Some(next()),
        offset: Some(16),
        after: Some(next()),
        symbols_in: Some(next()),
    }
}
