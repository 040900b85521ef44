//! Makes Python buffer its output.

use std::path::Path;

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_diagnose::Language;
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "python-buffered",
    takes_away: "PYTHONUNBUFFERED, and the option -u",
    needs: "a Python program with one of them",
    can_break: "its output appears later",
    findings: &[FindingId::UnbufferedOutput, FindingId::LineBufferedOutput],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    case.needs(Language::Python, "Python")?;
    let words = &case.target.command.arguments;
    let name = Path::new(&words[0]).to_string_lossy();
    let is_python = Language::from_program_name(&name) == Some(Language::Python);
    let unbuffered = words
        .iter()
        .skip(1)
        .take_while(|word| word.as_encoded_bytes().starts_with(b"-"));
    let unbuffered = unbuffered
        .into_iter()
        .position(|word| word == "-u")
        .filter(|_| is_python);
    if unbuffered.is_none() && !case.is_set("PYTHONUNBUFFERED") {
        return Err("neither PYTHONUNBUFFERED nor -u is set".to_owned());
    }
    let words = unbuffered.map(|place| {
        let mut words = words.clone();
        words.remove(place + 1);
        words
    });
    Ok(Change {
        unset: vec!["PYTHONUNBUFFERED".into()],
        words,
        ..Change::default()
    })
}
